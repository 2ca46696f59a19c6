"""Words: tokens, BM25, and what the full-text index finds, with exact statistics."""

from __future__ import annotations

import math
import tempfile
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sqlalchemy import text
from store_fixtures import Stores, assert_words_are_exact, document, findable, fresh_database

from stores.base.passages import SHARED
from stores.checks.words import word_faults
from stores.database.database import Database
from stores.words import lexical
from stores.words.lexical import (
    WordStatistics,
    add_words,
    bm25,
    holding_words,
    remove_words,
    searched,
    statistics_of,
    tokens,
    word_scores,
    worth_asking,
)

# Tokens


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("connected connecting connections", ["connect", "connect", "connect"]),
        ("What is the capital of France?", ["capit", "franc"]),
        ("you're we'll don't", []),  # what is left of them are stop words too
        ("Café CAFÉ cafe\u0301", ["cafe", "cafe", "cafe"]),
        ("STRASSE straße", ["strass", "strass"]),
        ("ﬁles, №5 at 20℃", ["file", "no5", "20", "c"]),
        ("snake_case, e-mail", ["snake", "case", "e", "mail"]),
        ("東京都", ["東京", "京都"]),
        ("東", ["東"]),
        ("한국어", ["한국", "국어"]),
        ("แมวบอก", ["แม", "มว", "วบ", "บอ", "อก"]),
        ("東京towerへ", ["東京", "tower", "へ"]),
        ("カメラ・レンズ", ["カメ", "メラ", "レン", "ンス"]),  # a mark of voice is an accent, too
        ("Привет", ["привет"]),
        ("", []),
        (" \0\n…!?🙂", []),
        ("to be or not to be", []),
    ],
)
def test_tokens_are_folded_stemmed_and_without_stop_words(written: str, expected: list[str]) -> None:
    assert tokens(written) == expected


def test_an_option_is_searched_letter_for_letter_as_well() -> None:
    assert searched("tar -C, --no-Same_owner=x") == [
        *("tar", "c", "owner", "x"),
        *("-C", "--no-Same_owner"),
    ]
    assert searched("what does -t do?") == ["-t"]  # its letter alone is a stop word
    assert searched("e-mail, 5-6, a/-b, -- and - x") == tokens("e-mail, 5-6, a/-b, -- and - x")


def test_an_option_finds_its_own_case_first(database: Database) -> None:
    with database.writing() as sql:
        add_words(sql, SHARED, {1: "-c writes a file", 2: "-C changes the folder", 3: "-t, --list"})
    with database.reading() as sql:
        scores = word_scores(sql, [SHARED], "what does -C do?", [1, 2, 3])
        assert scores[2] > scores[1] > scores[3] == 0
        assert holding_words(sql, SHARED, searched("what is -t for?"), 1) == [3]


def test_words_of_before_options_were_searched_are_no_fault(
    stores: Stores, ann: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(lexical, "searched", tokens)
        stores.add(ann, document("a.txt", "-C changes the folder"))
    stores.add(ann, document("b.txt", "-t lists"))
    assert not word_faults(stores.database)


@given(st.text(st.characters(max_codepoint=127)))
def test_text_without_accents_is_folded_the_short_way_with_the_same_tokens(written: str) -> None:
    assert lexical._plain(written) == written.lower()


def test_a_very_long_word_is_one_token_and_many_words_stay_many() -> None:
    assert tokens("x" * 1_000_000) == ["x" * 1_000_000]
    assert len(tokens("word " * 100_000)) == 100_000


@given(st.text())
@example("ǰ℃İßΣς")
def test_case_and_composition_never_change_tokens(written: str) -> None:
    folded = tokens(written.casefold())
    assert tokens(written) == folded
    assert tokens(unicodedata.normalize("NFD", written)) == folded


@given(st.text())
@example("น้ำ ั")  # Thai vowels and tones are marks, beside letters or alone
def test_tokens_hold_nothing_that_a_query_could_be_broken_with(written: str) -> None:
    found = "".join(tokens(written))
    assert all(each.isalnum() or unicodedata.category(each).startswith("M") for each in found)


# BM25


def test_bm25_of_a_passage_of_mean_length() -> None:
    statistics = WordStatistics(passages=2, words=4, passages_with={"cat": 1})
    # idf = ln(1 + (2 - 1 + ½) / (1 + ½)) = ln 2; of mean length: f (k1 + 1) / (f + k1) = 2.2 / 2.2
    assert bm25(["cat"], ["cat", "dog"], statistics) == pytest.approx(math.log(2))


def test_bm25_of_a_repeated_word_in_a_long_passage() -> None:
    statistics = WordStatistics(passages=4, words=8, passages_with={"cat": 1, "dog": 2})
    # cat: idf = ln(1 + 3.5/1.5) = ln(10/3); mean length 2, length 4:
    # 2 · 2.2 / (2 + 1.2 (¼ + ¾ · 4/2)) = 4.4 / 4.1
    # dog: idf = ln(1 + 2.5/2.5) = ln 2; 1 · 2.2 / (1 + 2.1) = 2.2 / 3.1
    expected = math.log(10 / 3) * 4.4 / 4.1 + math.log(2) * 2.2 / 3.1
    assert bm25(["cat", "dog"], ["cat", "cat", "dog", "x"], statistics) == pytest.approx(expected)


def test_a_word_repeated_in_the_query_counts_once() -> None:
    statistics = WordStatistics(passages=2, words=4, passages_with={"cat": 1})
    assert bm25(["cat", "cat"], ["cat", "dog"], statistics) == bm25(["cat"], ["cat", "dog"], statistics)


WORDS = st.sampled_from(["cat", "dog", "owl", "elk", "ant"])
PASSAGES = st.lists(st.lists(WORDS, max_size=8), min_size=1, max_size=6)


def counted(passages: list[list[str]]) -> WordStatistics:
    return WordStatistics(
        len(passages),
        sum(map(len, passages)),
        {word: sum(word in passage for passage in passages) for passage in passages for word in passage},
    )


@given(st.lists(WORDS, max_size=4), PASSAGES)
def test_bm25_is_never_below_0_and_0_exactly_without_a_shared_word(
    query: list[str], passages: list[list[str]]
) -> None:
    for passage in passages:
        score = bm25(query, passage, counted(passages))
        assert score >= 0
        assert (score == 0) == (not set(query) & set(passage))


@given(WORDS, PASSAGES, st.integers(1, 5))
def test_one_more_occurrence_never_lowers_a_score(word: str, passages: list[list[str]], more: int) -> None:
    statistics = counted(passages)
    for passage in passages:
        before = bm25([word], passage, statistics)
        after = bm25([word], passage + [word] * more, statistics)  # although the passage is longer
        assert after >= before or after == pytest.approx(before)


@given(st.integers(1, 1000), st.integers(0, 1000), st.integers(0, 1000))
def test_a_rarer_word_never_weighs_less(passages: int, one: int, other: int) -> None:
    statistics = WordStatistics(passages, 0, {"one": min(one, passages), "other": min(other, passages)})
    if statistics.passages_with["one"] <= statistics.passages_with["other"]:
        assert statistics.rarity("one") >= statistics.rarity("other") > 0


@given(st.dictionaries(st.text("abc", min_size=1, max_size=2), st.integers(0, 50)), st.integers(0, 100))
def test_the_rarest_words_are_asked_for_as_far_as_the_budget_goes(
    counts: dict[str, int], budget: int
) -> None:
    asked = worth_asking(counts, budget=budget)
    known = [token for token, passages in counts.items() if passages > 0]
    assert bool(asked) == bool(known)
    assert sum(counts[token] for token in asked) <= max(budget, min((counts[t] for t in known), default=0))
    left = [counts[token] for token in known if token not in asked]
    assert all(counts[token] <= min(left, default=99) for token in asked)


def test_only_the_rarest_word_is_asked_for_beyond_the_budget() -> None:
    assert worth_asking({"cat": 70, "dog": 60, "elk": 0}, budget=50) == ["dog"]
    assert worth_asking({"cat": 70, "dog": 60}, budget=130) == ["dog", "cat"]


# The full-text index


def test_scores_of_stored_passages_are_those_worked_out_by_hand(database: Database) -> None:
    with database.writing() as sql:
        add_words(sql, SHARED, {1: "cat dog", 2: "owl elk"})
    with database.reading() as sql:
        scores = word_scores(sql, [SHARED], "the cats", [1, 2, 3])
    assert scores == {1: pytest.approx(math.log(2)), 2: 0.0, 3: 0.0}


def test_spaces_searched_together_are_weighed_together(database: Database) -> None:
    with database.writing() as sql:
        add_words(sql, SHARED, {1: "cat dog"})
        add_words(sql, "user:1", {2: "owl elk"})
        add_words(sql, "user:12", {3: "cat cat"})
    with database.reading() as sql:
        statistics = statistics_of(sql, [SHARED, "user:1"], ["cat", "owl"])
        assert word_scores(sql, [SHARED, "user:1"], "cat", [1, 3]) == {1: pytest.approx(math.log(2)), 3: 0.0}
    assert statistics == WordStatistics(2, 4, {"cat": 1, "owl": 1})


def test_the_passages_with_the_rarer_words_are_found_first(database: Database) -> None:
    with database.writing() as sql:
        add_words(sql, "user:1", {1: "cat cat dog", 2: "cat", 3: "cat owl", 4: "elk"})
    with database.reading() as sql:
        assert set(holding_words(sql, "user:1", ["cat", "owl"], 10)) == {1, 2, 3}
        assert holding_words(sql, "user:1", ["cat", "owl"], 1)[0] == 3
        assert holding_words(sql, "user:1", ["cat"], 0) == []
        assert holding_words(sql, "user:1", [], 10) == []


def test_the_name_of_a_space_is_no_word_of_it(database: Database) -> None:
    with database.writing() as sql:
        add_words(sql, "user:1", {1: "cat"})
        add_words(sql, "user:2", {2: "user1 dog"})
    with database.reading() as sql:
        assert holding_words(sql, "user:1", tokens("user1"), 10) == []
        assert holding_words(sql, "user:2", tokens("user1"), 10) == [2]
        assert holding_words(sql, "user:1", tokens("dog"), 10) == []


def test_words_of_another_space_are_not_removed(database: Database) -> None:
    with database.writing() as sql:
        add_words(sql, "user:1", {1: "cat"})
        remove_words(sql, "user:2", [1])
        remove_words(sql, SHARED, [1, 99])
    with database.reading() as sql:
        assert holding_words(sql, "user:1", ["cat"], 10) == [1]
        assert statistics_of(sql, ["user:1"], ["cat"]) == WordStatistics(1, 1, {"cat": 1})


def test_a_query_of_thousands_of_words_is_searched_whole(database: Database) -> None:
    with database.writing() as sql:
        add_words(sql, "user:1", {1: "w4999"})
        add_words(sql, SHARED, {2: "w4998"})
    query = tokens(" ".join(f"w{number}" for number in range(5_000)))
    with database.reading() as sql:
        assert holding_words(sql, "user:1", query, 10) == [1]
        assert holding_words(sql, SHARED, query, 10) == [2]


def test_a_word_longer_than_any_page_of_the_index_is_found(database: Database) -> None:
    with database.writing() as sql:
        add_words(sql, SHARED, {1: "x" * 100_000})
    with database.reading() as sql:
        assert holding_words(sql, SHARED, tokens("x" * 100_000), 10) == [1]


CORPUS = {
    1: "cat dog",
    2: "near and or not",  # two words and two stop words
    3: "words rowid rank space user1 shared",
    4: 'quoted "phrase" here',
    5: "",
    6: "東京 café",
}
FRAGMENTS = """
    " ' NEAR NEAR( NEAR(cat,2) * cat* ^cat : words:cat space:user1 ( ) OR AND NOT -dog + {words} -- ; % \\ 🙂
    "cat" "user2" rank rowid 東京 CAFÉ phrase DROP
""".split()
NASTY = st.lists(st.one_of(st.sampled_from(FRAGMENTS), st.just("\0"), st.text(max_size=5)), max_size=6).map(
    " ".join
)


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def corpus(request: pytest.FixtureRequest) -> Iterator[Database]:
    with tempfile.TemporaryDirectory() as folder:
        if request.param == "sqlite":
            opened = fresh_database(Path(folder))
        else:
            opened = Database(request.getfixturevalue("postgres").new_database(template="vouch_empty"))
        with opened.writing() as sql:
            add_words(sql, SHARED, CORPUS)
            add_words(sql, "user:1", {10 + i: written for i, written in CORPUS.items()})
            add_words(sql, "user:2", {20 + i: written for i, written in CORPUS.items()})
        yield opened
        opened.close()


def words_tables(database: Database) -> tuple[str, ...]:
    own = ("passage_words",) if database.is_postgresql else ("shared_words", "own_words")
    return (*own, "space_statistics", "word_counts")


@given(query=NASTY)
@settings(max_examples=200, deadline=None)
def test_a_query_of_any_characters_finds_exactly_the_passages_that_share_a_word(
    corpus: Database, query: str
) -> None:
    wanted = tokens(query)
    expected = {i for i, written in CORPUS.items() if set(tokens(written)) & set(wanted)}
    with corpus.reading() as sql:
        assert set(holding_words(sql, SHARED, wanted, 100)) == expected
        assert set(holding_words(sql, "user:1", wanted, 100)) == {10 + i for i in expected}
        scores = word_scores(sql, [SHARED, "user:1"], query, [*CORPUS, *(20 + i for i in CORPUS)])
    assert {i for i, score in scores.items() if score > 0} == expected  # nothing of user 2


# nineteen letters of New Tai Lue that SQLite's older tables of Unicode take for marks, and two of Vedic
UNKNOWN_LETTERS = {chr(code) for code in (*range(0x19B0, 0x19CA), 0x1CF2, 0x1CF3)}


def test_a_query_of_letters_that_the_index_does_not_know_finds_nothing(corpus: Database) -> None:
    if corpus.is_postgresql:
        pytest.skip("PostgreSQL is given finished tokens and has no table of letters")
    with corpus.reading() as sql:
        assert tokens("\u19b0") == ["\u19b0"]
        assert holding_words(sql, "user:1", ["\u19b0"], 100) == []
        assert holding_words(sql, SHARED, ["\u19b0"], 100) == []
        assert set(holding_words(sql, "user:1", ["\u19b0", "cat"], 100)) == {11}


@given(written=st.text(st.characters(codec="utf-8", exclude_characters=UNKNOWN_LETTERS), max_size=30))
@settings(max_examples=100, deadline=None)
def test_a_passage_is_found_by_its_own_text(corpus: Database, written: str) -> None:
    with corpus.writing() as sql:
        add_words(sql, "user:3", {99: written})
        found = holding_words(sql, "user:3", tokens(written), 1)
        assert found == ([99] if tokens(written) else [])
        sql.rollback()


@given(
    query=st.text(alphabet="ab ", max_size=9),
    written=st.lists(st.text(alphabet="ab ", max_size=9), min_size=1, max_size=5),
)
@settings(max_examples=50, deadline=None)
def test_words_as_the_database_keeps_them_are_weighed_as_their_tokens_are(
    corpus: Database, query: str, written: list[str]
) -> None:
    passages = [tokens(text) for text in written]  # a token may be part of another, or stand there twice
    with corpus.writing() as sql:
        add_words(sql, "user:9", dict(enumerate(written, start=300)))
        scores = word_scores(sql, ["user:9"], query, range(300, 300 + len(written)))
        sql.rollback()
    statistics = counted(passages)
    expected = [bm25(tokens(query), passage, statistics) for passage in passages]
    by_hand = [weighed_by_hand(set(tokens(query)), passage, statistics) for passage in passages]
    assert list(scores.values()) == expected == by_hand


def weighed_by_hand(query: set[str], passage: list[str], statistics: WordStatistics) -> float:
    """The equation of `bm25` over a list of tokens, in its order of sums."""
    mean = max(statistics.words / statistics.passages, 1.0)
    damping = 1.2 * (1 - 0.75) + 1.2 * 0.75 / mean * len(passage)
    found = 0.0
    for token in sorted(query):
        if count := passage.count(token):
            found += statistics.rarity(token) * (1.2 + 1) * count / (count + damping)
    return found


@given(
    mine=st.lists(st.text(alphabet="abc dog", max_size=20), min_size=1, max_size=4),
    theirs=st.lists(st.text(alphabet="abc dog", max_size=20), max_size=4),
    query=st.text(alphabet="abc dog", min_size=1, max_size=8),
)
@settings(max_examples=50, deadline=None)
def test_what_another_user_says_changes_no_score(
    corpus: Database, mine: list[str], theirs: list[str], query: str
) -> None:
    ids = range(100, 100 + len(mine))
    with corpus.writing() as sql:
        add_words(sql, "user:7", dict(zip(ids, mine, strict=True)))
        before = word_scores(sql, [SHARED, "user:7"], query, list(ids))
        add_words(sql, "user:8", dict(zip(range(200, 200 + len(theirs)), theirs, strict=True)))
        assert word_scores(sql, [SHARED, "user:7"], query, list(ids)) == before
        sql.rollback()


@given(
    st.lists(
        st.tuples(
            st.sampled_from([SHARED, "user:1", "user:2"]), st.integers(1, 6), st.text("ab the", max_size=9)
        ),
        max_size=12,
    )
)
@settings(max_examples=50, deadline=None)
def test_adding_and_removing_keeps_the_statistics_exact(
    corpus: Database, changes: list[tuple[str, int, str]]
) -> None:
    with corpus.writing() as sql:
        for table in words_tables(corpus):
            sql.execute(text(f"DELETE FROM {table}"))
        kept: dict[int, tuple[str, list[str]]] = {}
        for space, version_id, written in changes:
            if version_id in kept:  # there already: this takes it out
                remove_words(sql, kept.pop(version_id)[0], [version_id])
            else:
                add_words(sql, space, {version_id: written})
                kept[version_id] = (space, tokens(written))
        for space in (SHARED, "user:1", "user:2"):
            held = [words for place, words in kept.values() if place == space]
            found = statistics_of(sql, [space], ["ab", "absent"])
            assert (found.passages, found.words) == (len(held), sum(map(len, held)))
            for word in ("ab", "absent"):
                assert found.passages_with.get(word, 0) == sum(word in words for words in held)
        sql.rollback()


def test_words_and_statistics_follow_every_change_of_knowledge(stores: Stores, ann: int) -> None:
    first, _ = stores.add(ann, document("a.txt", "one cat", "two dogs", title="Animals"))
    stores.say(ann, "my cat is called Tom", "she is old")
    assert_words_are_exact(stores.database)
    stores.add(ann, document("a.txt", "one cat", title="Animals"))
    assert_words_are_exact(stores.database)
    stores.knowledge.undo(ann, stores.knowledge.receipts(ann)[0].id)
    assert_words_are_exact(stores.database)
    stores.knowledge.undo(ann, first)
    assert_words_are_exact(stores.database)
    assert len(findable(stores.database)["texts"]) == 2


def test_words_are_found_in_the_transaction_that_adds_the_passage(database: Database) -> None:
    with database.writing() as sql:
        add_words(sql, SHARED, {1: "cat"})
        assert holding_words(sql, SHARED, ["cat"], 1) == [1]
        sql.rollback()
    with database.reading() as sql:
        assert holding_words(sql, SHARED, ["cat"], 1) == []
