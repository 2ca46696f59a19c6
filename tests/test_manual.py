"""The manual is quoted to whoever asks: no sentence of it states somebody's affairs as if they were so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agents.base.sentences import sentences
from assistant.library.documents import PreparedDocument, read_documents
from benchmarks.manual_answers import ManualQuestion, halves, question_lists, verdict_on

MANUAL = Path(__file__).parent.parent / "docs" / "manual"
WHAT_VOUCH_SAYS = (
    "I found nothing",
    "I am not sure. The nearest I have",
    "I know nothing about that. The nearest I have",
)

# In quotation marks, or behind a command that takes words: somebody's own words, which answer somebody
# else's question about the same thing.
_STATED = re.compile(r"[\"“`](?:My|Our|I|We|Ben|Ada)\b[^\"”`]*|`/(?:teach|remember) [A-Z][a-z ][^`]*")
_ASKED = re.compile(r"[\"“](?:When|What|Who|Which|Where|How) [^\"”]*\?[\"”]")


@pytest.mark.parametrize("page", sorted(MANUAL.glob("*.md")), ids=lambda page: page.stem)
def test_no_example_of_the_manual_could_answer_a_persons_own_question(page: Path) -> None:
    text = " ".join(page.read_text("utf-8").split())
    stated = [found for found in _STATED.findall(text) if not found[1:].startswith(WHAT_VOUCH_SAYS)]
    assert stated == []
    # a question about a thing is likelier quoted than any passage about that thing
    assert [asked for asked in _ASKED.findall(text) if "runs it" not in asked] == []


WRITTEN = " ".join(
    " ".join(page.read_text("utf-8").replace("`", "").split()) for page in sorted(MANUAL.glob("*.md"))
)


@pytest.mark.parametrize(
    ("name", "fewest"),
    [
        ("mended", 30),
        ("held out", 30),
        ("everyday mended", 30),
        ("everyday held out", 30),
        ("terse mended", 20),
        ("terse held out", 20),
        ("seen", 30),
    ],
)
def test_what_people_ask_is_answered_somewhere(name: str, fewest: int) -> None:
    asked = [question for question in question_lists()[name] if question.holds]
    assert len(asked) >= fewest
    assert [question.text for question in asked if not question.is_held_by(WRITTEN)] == []


def test_each_short_answer_is_a_passage_of_its_own_and_opens_with_the_way() -> None:
    (page,) = read_documents(MANUAL / "questions.md")
    assert isinstance(page, PreparedDocument)
    headings = re.findall(r"^## (.*)$", (MANUAL / "questions.md").read_text("utf-8"), re.MULTILINE)
    # a section of few words is joined with the next one, and its heading is then no heading any more
    assert [passage.title for passage in page.passages] == [f"Questions › {heading}" for heading in headings]
    for passage in page.passages:
        (first, *_) = sentences(passage.text)
        if passage.title.startswith("Questions › How do I"):
            assert first.text.startswith("To ")
            assert re.search(
                r"/\w|F\d|Ctrl|Esc|Page|vouch |make |settings\.toml|memory\.learn|--\w", first.text
            ), first


def test_the_halves_of_the_questions_are_chosen_by_their_hashes() -> None:
    # SHA-256 begins with ca97 for "a", 3e23 for "b", 2e7d for "c" and 18ac for "d"
    questions = [ManualQuestion(text, "") for text in "abcd"]
    mended, held_out = halves(questions)
    assert [question.text for question in mended] == ["d", "c"]
    assert [question.text for question in held_out] == ["b", "a"]


def test_an_answer_is_counted_by_its_pattern() -> None:
    question = ManualQuestion("what key opens training", "F4")
    assert verdict_on(question, "“F4 opens training.” [1]") == "right"
    assert (
        verdict_on(question, "I am not sure. The nearest I have:\n“F5 opens sessions.” [1]")
        == "wrong, unsure"
    )
    assert verdict_on(question, "I found nothing about that. Try other words.") == "nothing found"
    assert verdict_on(ManualQuestion("Who wrote Vouch?", ""), "I found nothing about that.") == "right"
