"""What Vouch finds of what was told in twelve languages: python -m benchmarks.languages [--part dev] [--show]

    python -m benchmarks.languages --shares 0 0.2 0.3 0.5    the encoder alone, by the second half's share

A user of each language tells ten facts of data/languages among English messages of data/everyday, and asks
for each, in the language and in English.

    first, three   the fact is quoted first, or among the first three
    wrong          another is quoted first, flatly
    nothing        nothing is quoted

--shares looks up, by cosine alone, the fact among 200 English messages and the other facts of its language.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import islice
from pathlib import Path

import numpy as np

from agents.base.interfaces import Encoder
from agents.languages.foreign_statements import features
from agents.models.encoders.prepared import MULTILINGUAL, open_encoder, prepare_encoder
from agents.models.encoders.two_halves import TwoHalves
from assistant.settings.locations import find_locations
from benchmarks.everyday import measured
from benchmarks.everyday_chat import ROOT, Chat
from stores.base.clock import time_by
from training.examples import everyday
from training.examples.everyday import Asked
from training.heads import fitted

MEASURES = ("first", "three", "wrong", "nothing")
ASKED = ("asked", "english")
_AMONG = 40  # English messages that a user tells as well
_BESIDE = 200  # of the same, for the encoder alone


def facts(part: str) -> dict[str, list[dict[str, str]]]:
    """The facts of a part, by language."""
    found: dict[str, list[dict[str, str]]] = defaultdict(list)
    for line in (ROOT / "data/languages" / f"{part}.jsonl").read_text("utf-8").splitlines():
        fact = json.loads(line)
        found[fact["lang"]].append(fact)
    return found


def english(part: str, count: int) -> list[str]:
    """Messages that state something, of the same part of data/everyday."""
    chosen = everyday.undated("test" if part == "test" else "calibration")
    return list(islice((t.text for c in chosen for t in c.statements), count))


def halves() -> tuple[Encoder, Encoder]:
    """Both halves that Vouch comes with."""
    cache = find_locations(os.environ).cache / "encoders"
    first, second = (
        open_encoder(prepare_encoder(source, cache, tell=print, offline=True), threads=1)
        for source in (None, MULTILINGUAL)
    )
    return first, second


def by_cosine(part: str, shares: Sequence[float]) -> None:
    """Prints how many facts are nearest, or among the three nearest, for each share."""
    first, second = halves()
    others = english(part, _BESIDE)
    print("| share | own language, first | three | in English, first | three |")
    print("| ---: | ---: | ---: | ---: | ---: |")
    for share in shares:
        encoder = TwoHalves(first, second, share) if 0 < share < 1 else (second if share else first)
        beside = encoder.encode_passages(others)
        counts = []
        for asked in ASKED:
            ranks = []
            for told in facts(part).values():
                memory = np.concatenate([encoder.encode_passages([fact["told"] for fact in told]), beside])
                cosines = encoder.encode_queries([fact[asked] for fact in told]) @ memory.T
                ranks += [int((row > row[number]).sum()) for number, row in enumerate(cosines)]
            counts += [f"{sum(rank < 1 for rank in ranks)} of {len(ranks)}", sum(rank < 3 for rank in ranks)]
        print(f"| {share} | {' | '.join(map(str, counts))} |", flush=True)


def fit(part: str) -> None:
    """Prints weights for agents/languages/foreign_statements.py, and how sure they are."""
    _, second = halves()
    others = english(part, _AMONG)
    for asked in ASKED:
        rows, answers = [], []
        for told in facts(part).values():
            for number, fact in enumerate(told):
                memory = [one["told"] for one in told] + others
                without = [text for text in memory if text != fact["told"]]
                for texts, right in ((memory, number), (without, -1)):
                    ranked = len(texts) - (len(others) if asked == "english" else 0)  # the rest is read
                    rows.append(features(second, fact[asked], texts)[:ranked])
                    answers.append(np.arange(ranked) == right)
        x, y = np.concatenate(rows), np.concatenate(answers)
        weight, bias = fitted(x[:, :-1], y.astype(int).tolist(), count=2, penalty=0.01)
        weights = np.append(weight[1] - weight[0], bias[1] - bias[0])
        chances = [1 / (1 + np.exp(-(one @ weights))) for one in rows]
        told_of, never = chances[::2], [float(one.max()) for one in chances[1::2]]
        right = [one.argmax() == a.argmax() for one, a in zip(told_of, answers[::2], strict=True)]
        print(asked, np.round(weights, 2), f"{sum(right)} of {len(right)} first")
        for least in (0.05, 0.5, 0.8):
            sure = [one.max() >= least for one in told_of]
            wrong = [a and not b for a, b in zip(sure, right, strict=True)]
            shares = f"told {np.mean(sure):.2f} (wrong {np.mean(wrong):.2f})"
            print(f"  from {least}: {shares}, never told {np.mean(np.array(never) >= least):.2f}")


def by_chat(part: str, *, show: bool) -> None:
    """Prints what the product answers, by language."""
    rows: dict[tuple[str, str], list[dict[str, bool]]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        chat = Chat(Path(folder), ROOT / "docs/manual", show=show)
        with time_by(lambda: chat.at):
            for lang, told in facts(part).items():
                chat.at = datetime(2026, 1, 1, tzinfo=UTC)
                user = chat.assistant.stores.journal.user_id(lang)
                session = chat.assistant.stores.journal.open_session(user)
                talk = english(part, _AMONG)
                for number, fact in enumerate(told):
                    for message in (*talk[number :: len(told)], fact["told"]):
                        chat.at += timedelta(minutes=1)
                        chat.turn(user, session, message)
                for kind in ASKED:
                    session = chat.assistant.stores.journal.open_session(user)
                    for fact in told:
                        chat.at += timedelta(minutes=1)
                        finished = chat.turn(user, session, fact[kind])
                        row = measured(Asked(fact[kind], "other", date.min), fact["told"], finished)
                        rows[lang, kind].append(row)
                        rows["all", kind].append(row)
        chat.assistant.close()
    print(f"| language | asked in | {' | '.join(MEASURES)} |")
    print(f"| --- | --- |{' ---: |' * len(MEASURES)}")
    for (lang, kind), found in rows.items():
        counts = " | ".join(str(sum(row[measure] for row in found)) for measure in MEASURES)
        print(f"| {lang} | {'English' if kind == 'english' else 'its own'} | {counts} of {len(found)} |")
    print(chat.report())


def by_conversation(*, show: bool) -> None:
    """Prints what the product answers in whole conversations; of what was never told, what is not sure."""
    with tempfile.TemporaryDirectory() as folder:
        chat = Chat(Path(folder), ROOT / "docs/manual", show=show)
        with time_by(lambda: chat.at):
            for line in (ROOT / "data/languages/conversations.jsonl").read_text("utf-8").splitlines():
                conversation = json.loads(line)
                user = chat.assistant.stores.journal.user_id(conversation["lang"])
                session = chat.assistant.stores.journal.open_session(user)
                for message in conversation["says"]:
                    chat.at += timedelta(days=1)
                    chat.turn(user, session, message)
                session = chat.assistant.stores.journal.open_session(user)
                told, never = [], []
                for ask in conversation["asks"]:
                    chat.at += timedelta(minutes=1)
                    finished = chat.turn(user, session, ask["q"])
                    is_told = ask["from"] >= 0
                    message = conversation["says"][ask["from"]] if is_told else ""
                    row = measured(Asked(ask["q"], "other", date.min), message, finished)
                    (told if is_told else never).append(row)
                counts = ", ".join(f"{measure} {sum(r[measure] for r in told)}" for measure in MEASURES)
                hedged = f"{sum(r['not flatly'] for r in never)} of {len(never)}"
                print(f"{conversation['lang']}: of {len(told)} {counts}; never told, not sure {hedged}")
        chat.assistant.close()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", choices=("dev", "test"), default="dev")
    parser.add_argument("--conversations", action="store_true", help="the German and the Spanish one")
    parser.add_argument("--fit", action="store_true", help="print the weights of foreign statements")
    parser.add_argument("--shares", type=float, nargs="+")
    parser.add_argument("--show", action="store_true", help="print each answer")
    arguments = parser.parse_args()
    if arguments.conversations:
        by_conversation(show=arguments.show)
    elif arguments.shares:
        by_cosine(arguments.part, arguments.shares)
    elif arguments.fit:
        fit(arguments.part)
    else:
        by_chat(arguments.part, show=arguments.show)


if __name__ == "__main__":
    main()
