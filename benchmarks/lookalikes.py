"""What a memory confuses: python -m benchmarks.lookalikes [--part dev] [--together 6] [--show]

The conversations of data/lookalikes, told and asked as `benchmarks.everyday` does, by kind of question and by
phenomenon. After each memory was told, of its statements:

    hidden         it holds, and is taken for replaced or ended, or for known, and was not kept
    still told     it no longer holds, and nothing says so
    told as now    a question for what holds now got what no longer holds, flatly

    python -m benchmarks.lookalikes --opposites

tells the pairs of data/lookalikes/opposites.jsonl, each as a user of its own, and counts those that are kept
both; the second of none replaces the first.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks.everyday import KINDS, PARTS, Played, groups, play, print_shares
from benchmarks.everyday_chat import ROOT, Chat, folded
from stores.base.clock import time_by
from stores.base.passages import own_space
from stores.versions.live import live_of
from training.examples import everyday
from training.examples.everyday import Conversation

DATA = ROOT / "data/lookalikes"


def standing(chat: Chat, user: int, turn_id: int) -> str:
    """What became of what a message stated: kept, replaced, known (said to be known already), or nothing."""
    claims = [c for c in chat.assistant.stores.claims.of_turn(user, turn_id) if c.origin == "turn"]
    if not claims:
        return "nothing"
    if all(c.state != "stored" for c in claims):
        return "known"
    ids = [c.passage_id for c in claims if c.passage_id is not None]
    with chat.assistant.stores.database.reading() as sql:
        found = live_of(sql, ids, (own_space(user),)).values()
    return "kept" if any(passage.holds for passage in found) else "replaced"


def judged(chat: Chat, played: Played, group: list[Conversation]) -> Counter[str]:
    """How many statements of a memory hold or not, and are told otherwise."""
    counts: Counter[str] = Counter()
    for c in group:
        over = everyday.ends_of(c.statements)
        for told in c.statements:
            if told.states != "personal":
                continue
            found = standing(chat, played.user, played.turns[c.id, told.id])
            says_same = "same" in told.relations.values()
            if told.id in over:
                counts["over"] += 1
                counts["over, still told"] += found == "kept"
            else:
                counts["holds"] += 1
                counts["holds, replaced"] += found == "replaced"
                counts["holds, lost as known"] += found == "known" and not says_same
    for (c, asked, row), cited in zip(played.answers, played.cited, strict=True):
        if asked.kind != "now":
            continue
        over = everyday.ends_of(c.statements)
        gone = [folded(told.text) for told in c.statements if told.id in over]
        counts["now"] += 1
        counts["now, told what is over"] += row["wrong"] and any(folded(cited) in text for text in gone)
    return counts


def of_conversations(chosen: list[list[Conversation]], *, show: bool) -> None:
    rows: dict[str, list[dict[str, bool]]] = {kind: [] for kind in KINDS}
    by_phenomenon: dict[str, list[dict[str, bool]]] = defaultdict(list)
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        chat = Chat(Path(folder), ROOT / "docs/manual", show=show)
        with time_by(lambda: chat.at):
            for group in chosen:
                chat.at = datetime(2026, 1, 1, tzinfo=UTC)
                played = play(chat, group)
                counts += judged(chat, played, group)
                for c, asked, row in played.answers:
                    for kind in {asked.kind, "never" if asked.kind == "never" else "told"}:
                        rows[kind].append(row)
                    for phenomenon in c.phenomena if asked.kind != "never" else ():
                        by_phenomenon[phenomenon].append(row)
        chat.assistant.close()
    print_shares({kind: found for kind, found in rows.items() if found}, "kind")
    print()
    print_shares(dict(sorted(by_phenomenon.items())), "phenomenon")
    replaced, lost = counts["holds, replaced"], counts["holds, lost as known"]
    print(f"\nhidden: {replaced} replaced and {lost} lost as known of {counts['holds']} that hold")
    print(f"still told: {counts['over, still told']} of {counts['over']} that hold no longer")
    print(f"told as now: {counts['now, told what is over']} of {counts['now']} questions for what holds now")
    print(chat.report())


def of_opposites(*, show: bool) -> None:
    counts: dict[str, Counter[bool]] = defaultdict(Counter)
    with tempfile.TemporaryDirectory() as folder:
        chat = Chat(Path(folder), ROOT / "docs/manual", show=show)
        with time_by(lambda: chat.at):
            for number, line in enumerate((DATA / "opposites.jsonl").read_text("utf-8").splitlines()):
                pair = json.loads(line)
                user = chat.assistant.stores.journal.user_id(f"pair {number}")
                session = chat.assistant.stores.journal.open_session(user)
                turns = []
                for text in (pair["first"], pair["second"]):
                    chat.at += timedelta(minutes=1)
                    turns.append(chat.turn(user, session, text).turn_id)
                are_kept = all(standing(chat, user, turn) in ("kept", "nothing") for turn in turns)
                counts[pair["kind"]][are_kept] += 1
                if show and not are_kept:
                    print(f"    {pair['kind']}: one is lost")
        chat.assistant.close()
    print("| kind | pairs | one lost |\n| --- | ---: | ---: |")
    for kind, found in counts.items():
        print(f"| {kind} | {found.total()} | {found[False]} |")
    print(f"| all | {sum(f.total() for f in counts.values())} | {sum(f[False] for f in counts.values())} |")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", choices=PARTS, default="dev")
    parser.add_argument("--together", type=int, default=6, help="conversations in one memory")
    parser.add_argument("--groups", type=int, help="take only the first so many memories")
    parser.add_argument("--day", action="store_true", help="a day of one user instead: 67 messages")
    parser.add_argument("--opposites", action="store_true", help="the pairs instead")
    parser.add_argument("--show", action="store_true", help="print each answer")
    arguments = parser.parse_args()
    if arguments.opposites:
        of_opposites(show=arguments.show)
        return
    told = everyday.undated(PARTS[arguments.part], DATA)
    if arguments.day:
        told = everyday.of_files([DATA / "day-01.jsonl"])
    of_conversations(groups(told, arguments.together)[: arguments.groups], show=arguments.show)


if __name__ == "__main__":
    main()
