"""A chat in other languages than English, over the models that Vouch comes with."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_helpers import Vouch


@pytest.fixture(scope="module")
def vouch(tmp_path_factory: pytest.TempPathFactory, minilm_folder: Path) -> Vouch:
    made = Vouch(tmp_path_factory.mktemp("languages"), minilm_folder.parent)
    told = (
        "Meine Katze heißt Mimi.",
        "My dog is called Rex.",
        "Mein Sohn geht in die 3. Klasse. Am 1. März ziehen wir um.",
        "我对坚果过敏。",
    )
    made.run("chat", stdin="\n".join(told) + "\n")
    return made


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Wie heißt meine Katze?", "“Meine Katze heißt Mimi.”"),
        ("¿cómo se llama mi gata?", "“Meine Katze heißt Mimi.”"),
        ("what am I allergic to?", "“我对坚果过敏。”"),
        ("我对什么过敏？", "“我对坚果过敏。”"),
        ("what is my dog called?", "Rex. You said"),
    ],
)
def test_what_was_told_is_found_in_its_language_and_across(vouch: Vouch, question: str, answer: str) -> None:
    assert answer in vouch.run("ask", question).out


def test_ordinals_end_no_sentence(vouch: Vouch) -> None:
    kept = vouch.run("memory", "list").out
    assert "Mein Sohn geht in die 3. Klasse." in kept
    assert "Am 1. März ziehen wir um." in kept


def test_nothing_is_replaced_by_what_no_reader_can_read(vouch: Vouch) -> None:
    vouch.run("chat", stdin="Meine Katze heißt jetzt Möhre.\n")
    kept = vouch.run("memory", "list").out
    assert "Meine Katze heißt Mimi." in kept
    assert "Meine Katze heißt jetzt Möhre." in kept
    asked = vouch.run("ask", "Wie heißt meine Katze?").out
    assert "Mimi" in asked
    assert "Möhre" in asked


def test_a_greeting_is_answered_in_its_language_and_not_remembered(vouch: Vouch) -> None:
    before = vouch.run("memory", "list").out
    assert "Frag mich etwas" in vouch.run("chat", stdin="Guten Morgen, danke dir!\n").out
    assert "Ask me something" in vouch.run("chat", stdin="hello there\n").out
    assert vouch.run("memory", "list").out == before
