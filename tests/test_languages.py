"""Messages in other languages than English: told apart, cut, sorted, related and ranked."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from agent_fakes import FixedEncoder, FixedReader, candidate, source

from agents.answering.memory_answers import MemoryAnswers
from agents.base.chat_interfaces import Source
from agents.base.interfaces import Relation, Sorting, Vectors, Verification
from agents.languages.foreign_statements import ForeignStatements, features
from agents.languages.message_sorting import MessageSorter
from agents.languages.reader_by_language import ReaderByLanguage
from agents.languages.sentence_cutting import sentences_in
from agents.languages.signs import LABELS, ORDERS, Signs
from agents.languages.small_talk import ENGLISH, answered_at_once
from agents.models.encoders.multilingual import MultilingualEncoder
from agents.models.encoders.prepared import MULTILINGUAL, prepare_encoder
from agents.models.heads import LanguageHeads, of_script, softmax
from agents.models.heads import features as head_features
from agents.retrieval.reader_judge import ReaderJudge, Readings
from assistant.settings.locations import find_locations
from stores.base.errors import EncoderUnavailable

HELLO, CAT, ASKED = "hallo zusammen", "Meine Katze heißt Mimi.", "Wie heißt meine Katze?"


def signs(label: str, probability: float = 0.9) -> Signs:
    rest = (1 - probability) / (len(LABELS) - 1)
    orders = {each: probability if each == label else 0.0 for each in ORDERS}
    return Signs({each: probability if each == label else rest for each in LABELS}, orders, 0.0, 0.0)


class FixedLanguages:
    """German is what has a letter that English has not, or is named; the labels are given."""

    def __init__(self, **labels: str) -> None:
        self.labels = {HELLO: "talk", CAT: "self", ASKED: "ask_own", **labels}

    def is_english(self, text: str) -> bool:
        return text != HELLO and not any(letter in text for letter in "äöüß")

    def language(self, text: str) -> str:
        return "de"

    def signs(self, texts: Sequence[str]) -> list[Signs]:
        return [signs(self.labels.get(text, "text")) for text in texts]


LANGUAGES = FixedLanguages()


@pytest.fixture(scope="module")
def heads() -> LanguageHeads:
    folder = prepare_encoder(
        MULTILINGUAL, find_locations(os.environ).cache / "encoders", tell=print, offline=True
    )
    return LanguageHeads(MultilingualEncoder(folder, threads=1))


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("I finally moved to Porto", "en"),
        ("42", "en"),
        ("", "en"),
        ("Ich bin endlich nach Porto gezogen", "de"),
        ("我的猫叫咪咪。", "zh"),
        ("私の猫の名前はミミです。", "ja"),
        ("Мою кошку зовут Мими.", "ru"),
        ("قطتي اسمها ميمي.", "ar"),
        ("내 고양이 이름은 미미야.", "ko"),
    ],
)
def test_the_shipped_head_tells_languages_apart(heads: LanguageHeads, text: str, language: str) -> None:
    assert heads.is_english(text) == (language == "en")
    if language != "en":
        assert heads.language(text) == language


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Meine Schwester wohnt in Kiel.", "self"),
        ("¿dónde vive mi hermana?", "ask_own"),
        ("merci beaucoup !", "talk"),
        ("thanks a lot", "talk"),
    ],
)
def test_the_shipped_head_says_what_a_message_is(heads: LanguageHeads, text: str, label: str) -> None:
    (found,) = heads.signs([text])
    assert found.label == label
    assert sum(found.labels.values()) == pytest.approx(1)


def test_a_secret_is_told_from_a_date(heads: LanguageHeads) -> None:
    secret, date = heads.signs(["the wifi password is hunter2-Blue77", "we moved on 12 May"])
    assert secret.secret > 0.5 > date.secret
    assert heads.signs([]) == []


def test_heads_of_another_encoder_are_refused() -> None:
    class Other(FixedEncoder):
        def words(self, texts: Sequence[str]) -> Vectors:
            return self.encode_queries(texts)

    with pytest.raises(EncoderUnavailable, match="not of fixed-1"):
        LanguageHeads(Other({}))


def test_features_hold_meaning_words_and_digits() -> None:
    class Encoder(FixedEncoder):
        def words(self, texts: Sequence[str]) -> Vectors:
            return np.zeros((len(texts), 2), dtype=np.float32)

    found = head_features(Encoder({"pin a1b 22": (1, 0, 0, 0), "no": (0, 1, 0, 0)}), ["pin a1b 22", "no"])
    assert found[1].tolist() == [0, 1, *(0,) * 8]
    # 3 digits of 10 characters; the longest word with one has 3 letters; one word has letters too
    assert found[0, 6:] == pytest.approx([0.5, 0.5 * 0.9, 0.5 * 0.3, 0.5])


def test_probabilities_of_scores() -> None:
    assert softmax(np.array([[0.0, np.log(3)]], dtype=np.float32)) == pytest.approx(np.array([[0.25, 0.75]]))


@pytest.mark.parametrize(("text", "script"), [("Porto", ""), ("Порто ok", "ru"), ("okay Порт okay", "")])
def test_a_language_by_its_letters_needs_most_of_them(text: str, script: str) -> None:
    assert of_script(text) == script


def test_sentences_end_where_the_language_ends_them() -> None:
    german = "Am 1. März ziehen wir um. Emil geht in die 3. Klasse. Dr. Brandt kommt z. B. am Freitag."
    assert [s.text for s in sentences_in(german, LANGUAGES)] == [
        "Am 1. März ziehen wir um.",
        "Emil geht in die 3. Klasse.",
        "Dr. Brandt kommt z. B. am Freitag.",
    ]
    assert all(german[s.start : s.end] == s.text for s in sentences_in(german, LANGUAGES))
    assert len(sentences_in(german, None)) > 3


def test_sentences_of_other_scripts_end_at_their_stops(heads: LanguageHeads) -> None:
    assert [s.text for s in sentences_in("她叫咪咪。它三岁了！", heads)] == ["她叫咪咪。", "它三岁了！"]


def test_what_is_read_is_english_and_of_others_the_heads_speak() -> None:
    told = Sorting(0.0, 1.0, 0.0, 0.0)
    reader = ReaderByLanguage(FixedReader(sorting={"my cat is Mimi": told}), LANGUAGES)
    english, german, asked = reader.sort(["my cat is Mimi", CAT, ASKED])
    assert english == told
    assert german.personal > 0.8
    assert asked.asks > 0.8


def test_nothing_is_replaced_or_refuted_by_what_cannot_be_read() -> None:
    replaces, refutes = Relation(0.0, 1.0, 0.0, 0.0, 0.0), Verification(0.0, 1.0, 0.0)
    pairs = [
        ("I live in Porto", "Ich wohne in Köln"),
        ("Ich wohne in Köln", "Ich  wohne in Köln"),
        ("a", "b"),
    ]
    reader = ReaderByLanguage(
        FixedReader(related=dict.fromkeys(pairs, replaces), verified=dict.fromkeys(pairs, refutes)), LANGUAGES
    )
    assert [relation.unrelated for relation in reader.relate(pairs)] == [1, 0, 0]
    assert [relation.same for relation in reader.relate(pairs)] == [0, 1, 0]
    assert [found.not_enough for found in reader.verify(pairs)] == [1, 1, 0]


def test_a_judge_says_nothing_of_what_it_cannot_read() -> None:
    judge = ReaderJudge(Readings(FixedReader({"Mimi": 0.9})), LANGUAGES)
    passages = [candidate(1, "My cat is Mimi."), candidate(2, CAT)]
    assert judge.judge(ASKED, passages).verdicts == (None, None)
    readable, foreign = judge.judge("what is my cat called?", passages).verdicts
    assert readable is not None
    assert foreign is None


def test_a_foreign_question_is_answered_by_the_nearest_statement() -> None:
    encoder = FixedEncoder({ASKED: (1, 0, 0, 0), CAT: (0.9, 0.43589, 0, 0), "My dog is Rex.": (0, 1, 0, 0)})
    answers = MemoryAnswers(
        lambda: pytest.fail("the reader cannot read it"),
        MessageSorter(FixedReader(), LANGUAGES),
        ForeignStatements(encoder, LANGUAGES),
    )
    best, other = answers.answers(ASKED, "", [source(1, "My dog is Rex."), source(2, CAT)])
    assert best.statement.text == CAT
    assert best.answer == CAT
    assert best.probability > 0.9 > 0.1 > other.probability


def test_what_was_told_since_and_is_like_the_answer_comes_with_it() -> None:
    later, other = "Mimi heißt jetzt Möhre.", "Ich wohne in Köln."
    vectors = {ASKED: (1, 0, 0, 0), CAT: (0.9, 0.43589, 0, 0), later: (0.2, 0.5, 0.8, 0), other: (0, 0, 0, 1)}
    answers = MemoryAnswers(
        lambda: pytest.fail("the reader cannot read it"),
        MessageSorter(FixedReader(), LANGUAGES),
        ForeignStatements(FixedEncoder(vectors), LANGUAGES),
    )

    def at(number: int, text: str, day: int) -> Source:
        one = source(number, text, kind="fact")
        created = datetime(2026, 1, day, tzinfo=UTC)
        return Source(number, replace(one.passage, created_at=created))

    told = [at(1, CAT, 1), at(2, later, 5), at(3, other, 9)]
    best = answers.answers(ASKED, "", told)[0]
    assert (best.statement.text, best.later and best.later.text) == (CAT, later)
    earlier = answers.answers(ASKED, "", [at(1, CAT, 8), at(2, later, 5), at(3, other, 9)])[0]
    assert earlier.later is None


def test_a_statement_is_as_probable_as_it_is_above_those_that_the_reader_reads() -> None:
    encoder = FixedEncoder({"q": (1, 0, 0, 0), CAT: (0.5, 0.86603, 0, 0), "read": (0.9, 0.43589, 0, 0)})
    foreign = ForeignStatements(encoder, LANGUAGES)
    (alone,), (beside,) = foreign.probabilities("q", [CAT]), foreign.probabilities("q", [CAT], ["read"])
    assert alone > 0.9 > 0.5 > beside


def test_features_of_a_statement_tell_how_far_it_is_above_the_best_other() -> None:
    encoder = FixedEncoder({"q": (1, 0, 0, 0), "a": (0.8, 0.6, 0, 0), "b": (0.6, 0.8, 0, 0)})
    assert features(encoder, "q", ["a", "b"]) == pytest.approx(np.array([[0.8, 0.2, 1], [0.6, -0.2, 1]]))
    assert features(encoder, "q", ["a"]) == pytest.approx(np.array([[0.8, 0.8, 1]]))
    assert ForeignStatements(encoder, LANGUAGES).probabilities("q", []) == []


def test_small_talk_gets_one_line_in_its_language() -> None:
    german = answered_at_once(LANGUAGES, HELLO, says_something=False)
    assert german is not None
    assert german.startswith("Frag mich etwas")
    assert answered_at_once(FixedLanguages(hi="talk"), "hi", says_something=False) == ENGLISH
    assert answered_at_once(None, HELLO, says_something=False) is None


def test_what_asks_or_states_is_no_small_talk() -> None:
    assert answered_at_once(LANGUAGES, ASKED, says_something=True) is None
    assert answered_at_once(FixedLanguages(hi="talk"), "hi", says_something=True) is None
    german, english = "was kannst du für mich tun?", "what can you do?"
    languages = FixedLanguages(**{german: "ask_tool", english: "ask_tool"})
    assert answered_at_once(languages, german, says_something=True)
    assert answered_at_once(languages, english, says_something=True) is None  # the manual may tell


def test_small_talk_is_no_part_of_what_was_told() -> None:
    sorter = MessageSorter(ReaderByLanguage(FixedReader(), LANGUAGES), LANGUAGES)
    assert sorter.sorted(HELLO).telling == ""
    assert sorter.sorted(CAT).telling == CAT
    assert MessageSorter(None, LANGUAGES).sorted(ASKED).asking == (ASKED,)
