"""Rounds of training in words: how far one is, what was measured, what the list of them tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from assistant.terminal.facts.training import (
    DECIDED_BY,
    MeasuredTable,
    TrainingFacts,
    curve_of,
    forgetting_of,
    gain_of,
    learned_from,
    measured_table,
    percent,
    points,
    reason_of,
    slices_of,
)
from assistant.terminal.text.plot import sparkline
from stores.base.one_line import one_line
from stores.learning.rounds import in_words

if TYPE_CHECKING:
    from stores.database.tables import Round

_EIGHTHS = " ▏▎▍▌▋▊▉"
_NARROW = 60  # columns
_START = "epoch 0"  # as a column: what was measured before the first step
_SPARK = 8  # columns of the curve in the status line
_WITHOUT_A_WORD = "without a word"  # a learner that was killed has recorded no reason
_SLICES = 3  # told in the table; the page of a round tells all
_SLICE_COLUMNS = 26


def bar(done: float, of: float, width: int) -> str:
    """So much of a bar of `width` columns, between two marks."""
    eighths = round(8 * width * max(0.0, min(1.0, done / of))) if of > 0 else 0
    full, rest = divmod(eighths, 8)
    drawn = "█" * full + (_EIGHTHS[rest] if rest else "")
    return f"▕{drawn:<{width}}▏"


def lasting(seconds: float) -> str:
    """About how long, in the largest unit that fits."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def title_line(facts: TrainingFacts) -> str:
    """Which model answers, and which one is being made."""
    current = facts.current
    told = [f"live model: {facts.name_of(facts.live)}"]
    if current is not None:
        told.append(f"candidate: {current.id}")
    return " · ".join(told)


def progress_line(facts: TrainingFacts, width: int) -> str:
    """How far the round is that runs; where none does, what is needed for one."""
    row = facts.current
    if row is None:
        return _first_that_fits(_needed(facts), width)
    if row.state == "waiting" or row.id in facts.broken_off:
        return _first_that_fits(_broken_off(facts, row), width)
    done, of, words = _how_far(row)
    paused = _paused(facts, row)
    if not of:
        sentences = [f"{words}, {paused}", paused] if paused else [words]
        return _first_that_fits([f"round {row.id}: {each}" for each in sentences], width)
    tail = [f"{100 * done / of:.0f} %"]
    if paused:
        tail.append(paused)
    elif (left := _progress(row).get("seconds_left")) is not None:
        tail.append(f"about {lasting(float(left))} left")
    told = " ".join(tail)
    room = width - len(words) - len(told) - 4
    if room >= 8:
        return f"{words} {bar(done, of, min(36, room))} {told}"
    return _first_that_fits([f"{words}, {told}", f"{words}, {tail[-1]}", words], width)


def status_line(row: Round, width: int, *, is_broken_off: bool = False) -> tuple[str, str]:
    """A round that runs, for the chat: words for the left end and, where there is room, the right one."""
    done, of, words = _how_far(row)
    if is_broken_off:
        return f"training: round {row.id} broke off{_where(row)}", ""
    paused = ", paused" if row.figures.get("is_paused") else ""
    left = f"training: round {row.id}, {words}{paused}"
    if of:
        left += f" {bar(done, of, 10)}"
    if width < 100:
        return left, ""
    losses = [loss for _, loss in curve_of(row)]
    if losses:
        left += f" loss {losses[-1]:.2f} {sparkline(losses, _SPARK)}"
    table = measured_table(row)
    if table is None or not table.rows:
        return left, ""
    first = table.rows[0]
    before = "" if _is_of_the_start(table) else f" ({table.columns[0]} {percent(first.before)})"
    return left, f"{first.name} {percent(first.after)}{before}"


def state_now(facts: TrainingFacts, row: Round) -> str:
    """A round's state in one word; of one that runs also that it is paused."""
    return "paused" if _paused(facts, row) else facts.state_of(row)


def running_line(row: Round, *, is_paused: bool) -> str:
    """How far a round is that runs, in words: for /train and `vouch train --status`."""
    progress = _progress(row)
    told = [_how_far(row)[2]]
    if "step" in progress and "loss" in progress:
        told.append(f"loss {float(progress['loss']):.2f}")
    if is_paused:
        told.append("paused")
    elif (left := progress.get("seconds_left")) is not None:
        told.append(f"about {lasting(float(left))} left")
    return ", ".join(told)


def round_line(facts: TrainingFacts, row: Round, width: int) -> str:
    """A round in the list: number, state, when, gain, reason; a narrow one without the reason."""
    state, gain, reason = state_now(facts, row), gain_of(row), reason_of(row)
    day = row.created_at.astimezone()
    when = f"{day.day:>2} {day:%b %H:%M}"
    if row.state == "running" and not reason:
        reason = learned_from(facts, row)
    if gain and gain not in reason:  # behind it: the end is what a narrow screen cuts
        reason = f"{reason.rstrip('.')}; {gain}"
    reason = reason.removeprefix(f"{DECIDED_BY} was ")
    if state in ("broken off", "waiting", "failed"):
        reason = "; ".join(filter(None, (_where(row).strip(), one_line(row.reason) or _WITHOUT_A_WORD)))
    is_off = state in ("replaced", "stepped back")
    if is_off and facts.previous and facts.name_of(facts.previous) == f"{row.id}":
        reason = f"one step back · {reason}"
    if width < _NARROW:
        return f"{row.id:>3} {state:<12} {when:<12} {' '.join(gain.split()[1:2])}".rstrip()
    return f"{row.id:>3}  {state:<12} {when:<12}  {reason}"


def table_lines(row: Round, width: int) -> list[str]:
    """What was measured of a round, a row a measure, with the differences; as much as the width holds."""
    table = measured_table(row)
    if table is None:
        return []
    if _is_of_the_start(table):
        return [
            f"{'in %':<9}{table.columns[0]:>7}",
            *(f"{e.name:<9}{percent(e.before):>7}" for e in table.rows),
        ]
    shown = width >= 50  # the intervals too
    head = f"{'in %':<9}{table.columns[0]:>7}{table.columns[1]:>11}{'points':>8}"
    lines = [head]
    for each in table.rows:
        line = f"{each.name:<9}{percent(each.before):>7}{percent(each.after):>11}"
        line += f" {points(each.after - each.before):>7}"
        if shown and each.low is not None and each.high is not None:
            line += f"  [{points(each.low)}, {points(each.high)}]"
        lines.append(line)
    worst = sorted(slices_of(row), key=lambda each: each[1])[:_SLICES]
    if (forgotten := forgetting_of(row)) is not None:
        lines.append(f"forgetting {slice_name(forgotten[0], 16)} {points(forgotten[1]):>7}")
        worst = worst[1:] if forgotten[0] else worst
    lines += [f"{slice_name(name)}  {points(gain):>7}" for name, gain, _ in worst]
    return lines


def _is_of_the_start(table: MeasuredTable) -> bool:
    """Whether nothing was measured since, so that both columns would be the same."""
    return table.columns[1] == _START


def slice_name(name: str, columns: int = _SLICE_COLUMNS) -> str:
    """A month or a domain in a column of its own; of a long name the end, which differs."""
    shown = name
    while _wide(shown) > columns:
        name = name[1:]
        shown = f"…{name}"
    return shown + " " * (columns - _wide(shown))


def _needed(facts: TrainingFacts) -> list[str]:
    """What is needed for a round, each sentence shorter than the one before."""
    new, wanted, lack = facts.new_lessons, facts.begins_at, facts.lack
    if facts.is_paused:
        then = ["; training in this chat is paused until Space", "; paused until Space"]
    elif not facts.in_chat:
        then = ["; s starts a round (learning.in_chat is false)", "; s starts a round"]
    elif lack is not None:
        more = f"{lack.so_far}, about {lack.more} more lessons"
        then = [f"{more}; then a round starts automatically", f"{lack.so_far}; {lack.more} more lessons"]
        return [lack.sentence, *then]
    elif new < wanted:
        then = ["; then a round starts automatically", ", then a round"]
    else:
        then = ["; a round starts soon", "; a round soon"]
    if lack is not None:
        return [f"{lack.so_far}{each}" for each in then]
    return [f"{new} of {wanted} new lessons{then[0]}", *(f"{new} of {wanted} lessons{each}" for each in then)]


def _broken_off(facts: TrainingFacts, row: Round) -> list[str]:
    """Where a round broke off, why, and that it goes on; each sentence shorter than the one before."""
    head = f"round {row.id} {'broke off' if row.id in facts.broken_off else 'waits'}"
    where, why = _where(row), f": {one_line(row.reason)}" if row.reason else f", {_WITHOUT_A_WORD}"
    at, later = ("after Space", "after Space") if facts.is_paused else ("at the next occasion", "later")
    return [
        f"{head}{where}{why}; it goes on {at}",
        f"{head}{where}{why}; it goes on {later}",
        f"{head}{where}; it goes on {at}",
        f"{head}; it goes on {at}",
        f"{head}; it goes on {later}",
    ]


def _paused(facts: TrainingFacts, row: Round) -> str:
    """That a round is held up, in words; empty where it goes on, has ended or was broken off."""
    if facts.state_of(row) != "running":
        return ""
    if facts.is_paused and facts.is_leading:
        return "paused until Space"
    return "paused" if row.figures.get("is_paused") else ""


def _where(row: Round) -> str:
    """How far a round had come when it broke off, behind a blank; empty where that is not known."""
    _, of, words = _how_far(row)
    if of:
        return f" at {words}"
    return f" while {words}" if row.figures.get("phase") else ""


def _first_that_fits(sentences: Sequence[str], width: int) -> str:
    """The longest of them that has room; the last one where none has."""
    return next((each for each in sentences if _wide(each) <= width), sentences[-1])


def _how_far(row: Round) -> tuple[float, float, str]:
    """Done, of how many (0: that is not known), and both in words."""
    facts = _progress(row)
    for done, of, what in (
        ("step", "steps", "step"),
        ("questions", "questions_in_all", "question"),
        ("passages", "passages_in_all", "passage"),
    ):
        if of in facts and done in facts:
            return float(facts[done]), float(facts[of]), f"{what} {facts[done]} of {facts[of]}"
    return 0, 0, one_line(in_words(str(row.figures.get("phase", ""))))


def _progress(row: Round) -> Mapping[str, Any]:
    found = row.figures.get("progress", {})
    return found if isinstance(found, dict) else {}


def _wide(text: str) -> int:
    """Columns that it takes."""
    from rich.cells import cell_len  # not for `vouch train --status`, which draws no screen

    return cell_len(text)
