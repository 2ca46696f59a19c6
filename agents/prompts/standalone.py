"""What the query model reads to make a question stand alone, and what it writes, in training and use.

    Q: who was the first man on the moon?
    A: Neil Armstrong
    Q: when was he born?
    Alone: when was Neil Armstrong born?

It writes "same" of a question that stands alone already: one token, where nothing is to be searched anew.
"""

from __future__ import annotations

from collections.abc import Sequence

SAME = "same"
MOST_EARLIER = 2  # exchanges that are read with their answers
_LONGEST_QUESTION, _LONGEST_ANSWER = 40, 32  # words


def prompt(question: str, earlier: Sequence[tuple[str, str]]) -> str:
    """earlier: questions and answers (empty: not known), oldest first.

    Read are the last, and the first question, which mostly names what a conversation is about.
    """
    return f"{beginning(earlier)} {_first(question, _LONGEST_QUESTION)}\nAlone:"


def beginning(earlier: Sequence[tuple[str, str]]) -> str:
    """Of the prompt of any question that comes next, all that is before this question."""
    lines: list[str] = []
    if len(earlier) > MOST_EARLIER:
        lines.append(f"Q: {_first(earlier[0][0], _LONGEST_QUESTION)}")
    for asked, answer in earlier[-MOST_EARLIER:]:
        lines.append(f"Q: {_first(asked, _LONGEST_QUESTION)}")
        if answer.strip():
            lines.append(f"A: {_first(answer, _LONGEST_ANSWER)}")
    return "\n".join([*lines, "Q:"])


def written(alone: str) -> str:
    """What is to be written behind the prompt. alone: the question that stands alone; empty: as it was."""
    return f" {' '.join(alone.split()) or SAME}"


def read(text: str, question: str) -> str:
    """The question that was written; empty where the model leaves it as it is, or writes nothing."""
    line = text.strip().partition("\n")[0].strip()
    return "" if line.casefold() in ("", SAME, question.strip().casefold()) else line


def _first(text: str, words: int) -> str:
    return " ".join(text.split()[:words])
