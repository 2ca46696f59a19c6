"""The report of a replay as one page: tables and plots, with nothing fetched and nothing that runs.

It opens from a disk, in light and in dark. Every text is escaped.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from assistant.replay.metrics.figures import ALL, THIRDS
from assistant.replay.metrics.measures import MAIN
from assistant.replay.report.plots import bar_plot, line_plot
from assistant.replay.report.report import head_of, is_percentage, shown_interval, table_rows

_STYLE = """
:root { color-scheme: light dark; --text: #1b1f24; --soft: #59636e; --back: #ffffff; --line: #d1d9e0;
  --series-1: #4c5a67; --series-2: #0550ae; --series-3: #9a3d00; --series-4: #116329; --series-5: #8250df; }
@media (prefers-color-scheme: dark) { :root { --text: #e6edf3; --soft: #9aa5b1; --back: #0d1117;
  --line: #30363d; --series-1: #aab4be; --series-2: #6cb6ff; --series-3: #f0a35e; --series-4: #6bc46d;
  --series-5: #c297ff; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--back); margin: 0 auto;
  max-width: 72rem; padding: 1rem; }
h1, h2, h3 { line-height: 1.2; } h3 { font-size: 1rem; margin: 0 0 .4rem; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(20rem, 1fr)); gap: 1.5rem; }
figure { margin: 0; } svg { width: 100%; height: auto; }
figcaption { color: var(--soft); font-size: .875rem; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: .8rem 0 .3rem; }
th, td { padding: .25rem .75rem; border-bottom: 1px solid var(--line); }
th, td { text-align: right; white-space: nowrap; } small { color: var(--soft); display: block; }
th:first-child, td:first-child { text-align: left; }
svg text { font: 12px system-ui, sans-serif; fill: var(--soft); }
.grid, .mark { stroke: var(--line); stroke-width: 1; } .mark { stroke-dasharray: 1 5; stroke: var(--soft); }
.zero { stroke: var(--text); stroke-width: 1; } .interval { stroke: var(--text); stroke-width: 2; }
polyline { fill: none; stroke-width: 2; } .bar { fill: var(--series-2); }
.series-1 { stroke: var(--series-1); } .series-2 { stroke: var(--series-2); }
.series-3 { stroke: var(--series-3); } .series-4 { stroke: var(--series-4); }
.series-5 { stroke: var(--series-5); }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: .8125rem; }
"""


def page(report: Mapping[str, Any]) -> str:
    replay = report["replay"]
    title = f"Replay of {', '.join(replay['data']['names'])}"
    said = (
        f"{head_of(report)} Judge: {replay['judge']['kind']}. "
        "Each question was answered and scored before it was learned from."
    )
    if report["over_questions"]:
        said += " The smaller intervals are over the questions, the rows of all seeds together (bootstrap)."
    trainings = "".join(f"<li>{escape(told['told'])}</li>" for told in report["learning"].values())
    settings = json.dumps(replay, indent=2, ensure_ascii=False)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>"
        f"<h1>{escape(title)}</h1><p>{escape(said)}</p>{f'<ul>{trainings}</ul>' if trainings else ''}"
        f'<div class="plots">{"".join(_plots(report))}</div>'
        f"<h2>Figures</h2>{_tables(report)}"
        f"<h2>What was played</h2><pre>{escape(settings)}</pre></body></html>\n"
    )


def _plots(report: Mapping[str, Any]) -> list[str]:
    marks = sorted(
        {t["after"] for runs in report["trainings"].values() for rows in runs.values() for t in rows}
    )
    plots = []
    for measure, lines in report["curves"].items():
        factor = 100 if is_percentage(measure) else 1
        series = {label: [(x, factor * y) for x, y in points] for label, points in lines.items()}
        plots.append(
            line_plot(
                f"{measure} over the stream",
                series,
                across="questions asked",
                is_counted=True,
                up=f"Mean of the last {report['window']} questions{', in percent' if factor == 100 else ''}",
                marks=marks,
                is_percentage=factor == 100,
            )
        )
    plots.append(_losses(report))
    plots += [_gains(label, table) for label, table in report["gains"].items()]
    return [plot for plot in plots if plot]


def _losses(report: Mapping[str, Any]) -> str:
    """The trainings of the first seed, one behind the other."""
    series: dict[str, list[tuple[float, float]]] = {}
    for label, runs in report["trainings"].items():
        x, line = 0, []
        for training in next(iter(runs.values()), ()):
            for loss in training["losses"]:
                line.append((float(x), float(loss)))
                x += 1
        if line:
            series[label] = line
    return line_plot(
        "Loss of the trainings",
        series,
        across="stretches of training, in order",
        up="Mean loss of a stretch",
        is_counted=True,
    )


def _gains(label: str, table: Mapping[str, Mapping[str, Mapping[str, float]]]) -> str:
    """By domain where there are several, else by third of the stream."""
    domains = [part for part in table if part not in (ALL, *THIRDS)]
    rows = [
        (part, *(100 * table[part][MAIN][name] for name in ("mean", "low", "high")))
        for part in (ALL, *(domains or THIRDS))
        if MAIN in table.get(part, {})
    ]
    return bar_plot(f"Gain of {label} in {MAIN}", rows, across="points above frozen")


def _tables(report: Mapping[str, Any]) -> str:
    head, *rows = table_rows(report)
    parts = dict.fromkeys(row[0] for row in rows)
    return "".join(
        _table(part, head[1:], [_cells(report, row) for row in rows if row[0] == part]) for part in parts
    )


def _cells(report: Mapping[str, Any], row: Sequence[str]) -> list[str]:
    """A row's cells as HTML, without its part; with several seeds each has that over questions, too."""
    part, measure, *told = row
    cells = [escape(cell) for cell in told]
    if known := report["over_questions"]:
        tables = [(table, name == "gains") for name in ("figures", "gains") for table in known[name].values()]
        for place, (table, is_gain) in enumerate(tables):
            if ends := table.get(part, {}).get(measure):
                cells[place] += f"<small>{shown_interval(measure, ends, is_gain=is_gain)}</small>"
    return [escape(measure), *cells]


def _table(name: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """rows: of cells in HTML."""
    heads = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
    lines = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return (
        f'<div class="scroll"><table><caption>{escape(name)}</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table></div>"
    )
