"""What a user may search: the shared space and their own, whatever the indexes say."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pytest
from agent_fakes import FixedEncoder
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from store_fixtures import DIMENSION, Stores, document, fake_encode, findable, fresh_database, taken_for

from agents.retrieval.retriever import Fusion, Retriever
from stores.base.passages import SHARED, own_space
from stores.search.spaces import Space
from stores.vectors.exact import ExactVectors, Vector, Vectors
from stores.versions.changes import remove_versions
from stores.versions.live import live_among, live_passages, stored_vectors


class Claims:
    """An index that answers with what it is told to, true or not."""

    def __init__(self, version_ids: Iterable[int]) -> None:
        self._ids = list(version_ids)
        self.asked = 0

    def upsert(self, version_ids: Sequence[int], vectors: Vectors) -> None:
        raise AssertionError("a search writes nothing")

    def remove(self, version_ids: Iterable[int]) -> None:
        raise AssertionError("a search writes nothing")

    def nearest(self, vector: Vector, k: int) -> list[tuple[int, float]]:
        self.asked += 1
        return [(version_id, 1.0) for version_id in self._ids[:k]]

    def version_ids(self) -> set[int]:
        return set(self._ids)


def query(written: str) -> Vector:
    vector: Vector = fake_encode([written])[0]
    return vector


def versions(stores: Stores, space: str) -> dict[str, int]:
    return {written: version_id for version_id, written in stores.texts(space).items()}


def everything_shown(space: Space, ids: Sequence[int], words: str) -> set[int]:
    """Every version that any method of a space admits to."""
    shown = {i for i, _ in space.nearest(query(words), 1000)} | set(space.matching(words, 1000))
    shown |= {i for i, score in space.word_scores(words, ids).items() if score}
    shown |= set(space.similarities(query(words), ids)) | set(space.passages(ids))
    shown |= {i for i, _ in space.statements(1000)}
    shown |= {i for pair in space.neighbours(ids).values() for i in pair if i is not None}
    return shown


# Isolation

NASTY_NAMES = ["shared", "user:1", "user:2", "user1", "'; DROP TABLE users; --", '"', "' OR 1=1 --", "%", ""]
ALIKE_NAMES = ["Ann", "ann", "ann ", "ann\0", "a\u0301", "\u00e1", "1", "アン"]
NAMES = st.lists(
    st.one_of(st.sampled_from([*NASTY_NAMES, *ALIKE_NAMES]), st.text(max_size=6)),
    min_size=2,
    max_size=4,
    unique=True,
)


@given(names=NAMES, words=st.sampled_from(["cat", "user1 shared", "space user2", "secret OR cat"]))
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_users_of_any_names_find_the_shared_and_their_own_and_never_anothers(
    tmp_path: Path, names: list[str], words: str
) -> None:
    for old in tmp_path.iterdir():
        old.unlink()
    stores = Stores.over(fresh_database(tmp_path))
    users = [stores.journal.user_id(name) for name in names]
    assert [stores.journal.user_id(name) for name in names] == users
    assert len(set(users)) == len(users)
    stores.add(users[0], document("a.txt", "a shared cat", "a shared secret of space"))
    for user in users:
        stores.say(user, f"cat secret user1 shared {user}", "another cat of user2 in space")
        stores.knowledge.remember(user, f"note of a secret cat {user}")
    stores.indexer().catch_up()
    ids = [row["version"] for row in findable(stores.database)["texts"]]
    shared = set(stores.texts(SHARED))
    spaces = stores.spaces()
    for user in users:
        own = set(stores.texts(own_space(user)))
        assert len(own) == 3
        space = spaces.of(user)
        assert {i for i, _ in space.nearest(query(words), 1000)} == shared | own
        assert set(space.passages(ids)) == shared | own
        assert set(space.similarities(query(words), ids)) == shared | own
        assert everything_shown(space, ids, words) == shared | own
        assert {p.scope for p in space.passages(sorted(own)).values()} == {"yours"}
        lines = stores.catalogue.lines(user)
        assert {line.scope for line in lines} == {"shared", "yours"}
        assert len(lines) == len(shared | own)
    stores.database.close()


def test_what_others_say_moves_no_score_and_no_order(stores: Stores, ann: int, bob: int) -> None:
    stores.add(ann, document("a.txt", "cat dog", "cat cat", "dog owl"))
    stores.say(ann, "my cat", "my dog dog")
    stores.indexer().catch_up()
    space = stores.spaces().of(ann)
    ids = list(range(1, 10))

    def answers() -> object:
        return (
            space.matching("cat dog", 10),
            space.word_scores("cat dog", ids),
            space.nearest(query("cat"), 10),
            space.neighbours(ids),
        )

    before = answers()
    stores.say(bob, *(f"cat cat cat {number}" for number in range(20)))
    stores.indexer().catch_up()
    assert answers() == before


# Indexes that are wrong


def test_foreign_dead_and_unknown_ids_of_an_index_show_nothing(stores: Stores, ann: int, bob: int) -> None:
    stores.say(ann, "ann's cat")
    stores.say(bob, "bob's cat")
    stores.add(ann, document("a.txt", "old cat"))
    [dead] = stores.texts(SHARED)
    stores.add(ann, document("a.txt", "new cat"))
    foreign = [*stores.texts(own_space(ann)), *stores.texts(own_space(bob))]
    stores.indexer(index := ExactVectors(DIMENSION)).catch_up()
    [live] = stores.texts(SHARED)
    liar = taken_for(index, Claims([dead, 999, -1, 0, *foreign, dead, live]))
    found = stores.spaces(liar, exact_up_to=0).of(bob).nearest(query("cat"), 10)
    own = set(stores.texts(own_space(bob)))
    assert liar.asked
    assert {i for i, _ in found} == {live} | own
    # and that it is bob's own is his own space's answer, not the index's
    assert dict(found)[next(iter(own))] == float(query("bob's cat") @ query("cat"))


def test_an_index_of_nothing_but_wrong_ids_shows_nothing(stores: Stores, ann: int, bob: int) -> None:
    stores.say(bob, "bob's cat")
    stores.add(ann, document("a.txt", "cat"))
    stores.indexer(index := ExactVectors(DIMENSION)).catch_up()
    liar = taken_for(index, Claims([*stores.texts(own_space(bob)), *range(500, 520)]))
    assert stores.spaces(liar, exact_up_to=0).of(ann).nearest(query("cat"), 3) == []


def test_tombstones_are_not_found_while_the_index_is_behind(stores: Stores, ann: int) -> None:
    stores.add(ann, document("a.txt", *(f"cat {number}" for number in range(12))))
    index = ExactVectors(DIMENSION)
    stores.indexer(index).catch_up()
    space = stores.spaces(index, exact_up_to=0).of(ann)
    first = [i for i, _ in space.nearest(query("cat"), 12)]
    with stores.database.writing() as sql:
        remove_versions(sql, first[:9], receipt_id=None)
    assert index.version_ids() == set(first)  # it knows of nothing
    assert [i for i, _ in space.nearest(query("cat"), 3)] == first[9:]  # yet none is missing
    assert space.matching("cat", 12) == sorted(first[9:])
    assert set(space.passages(first)) == set(first[9:])
    assert set(space.similarities(query("cat"), first)) == set(first[9:])


def test_tombstones_in_memory_are_not_found(stores: Stores, ann: int) -> None:
    stores.say(ann, *(f"cat {number}" for number in range(6)))
    stores.indexer().catch_up()
    space = stores.spaces().of(ann)
    first = [i for i, _ in space.nearest(query("cat"), 6)]  # the vectors are in memory now
    with stores.database.writing() as sql:
        remove_versions(sql, first[:4], receipt_id=None)
    assert [i for i, _ in space.nearest(query("cat"), 1)] == first[4:5]
    assert [i for i, _ in space.nearest(query("cat"), 6)] == first[4:]


def test_shared_passages_are_found_before_the_index_knows_them(stores: Stores, ann: int) -> None:
    stores.add(ann, document("a.txt", "cat", "dog"))
    index = ExactVectors(DIMENSION)
    space = stores.spaces(index, exact_up_to=0).of(ann)
    by_text = versions(stores, SHARED)
    assert space.nearest(query("dog"), 1) == [(by_text["dog"], 1.0)]
    before = space.nearest(query("owl"), 2)
    assert index.version_ids() == set()
    stores.indexer(index).catch_up()
    assert index.version_ids() == set(by_text.values())
    assert space.nearest(query("owl"), 2) == before


def test_large_and_small_shared_spaces_answer_alike(stores: Stores, ann: int) -> None:
    texts = [f"cat number {number}" for number in range(40)]
    stores.add(ann, document("a.txt", *texts))
    stores.say(ann, "my cat")
    index = ExactVectors(DIMENSION)
    stores.indexer(index).catch_up()
    stores.add(ann, document("b.txt", "one more cat"))  # waiting
    exact, by_index = (stores.spaces(index, exact_up_to=limit).of(ann) for limit in (41, 40))
    for k in (0, 1, 5, 42, 100):
        assert by_index.nearest(query("cat"), k) == exact.nearest(query("cat"), k)
        assert len(exact.nearest(query("cat"), k)) == min(k, 42)


def test_without_an_index_the_search_is_exact(stores: Stores, ann: int) -> None:
    stores.add(ann, document("a.txt", "cat"))
    assert len(stores.spaces(None, exact_up_to=0).of(ann).nearest(query("cat"), 5)) == 1


def test_vectors_of_another_encoder_are_not_compared(stores: Stores, ann: int) -> None:
    stores.say(ann, "cat")
    stores.indexer(encoder_version="older").catch_up()
    space = stores.spaces().of(ann)
    [said] = stores.texts(own_space(ann))
    assert space.nearest(query("cat"), 5) == []
    assert space.similarities(query("cat"), [said]) == {}
    assert space.matching("cat", 5) == [said]  # words need no encoder


def test_the_same_users_space_by_another_encoder_shows_what_is_that_users_alone(
    stores: Stores, ann: int, bob: int
) -> None:
    stores.say(ann, "cat")
    stores.say(bob, "cat of bob")
    stores.indexer(encoder_version="newer").catch_up()
    [said], [of_bob] = stores.texts(own_space(ann)), stores.texts(own_space(bob))
    by_newer = stores.spaces().of(ann).by(stores.spaces(encoder_version="newer"))
    assert [i for i, _ in by_newer.nearest(query("cat"), 5)] == [said]
    assert everything_shown(by_newer, [said, of_bob], "cat") == {said}


def test_more_users_than_are_kept_in_memory_find_their_own(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stores.search.spaces._USERS_IN_MEMORY", 2)
    users = [stores.journal.user_id(f"user {number}") for number in range(4)]
    for user in users:
        stores.say(user, f"cat {user}")
    stores.indexer().catch_up()
    spaces = stores.spaces()
    for user in [*users, *users]:
        found = spaces.of(user).nearest(query("cat"), 5)
        assert {i for i, _ in found} == set(stores.texts(own_space(user)))
    assert len(spaces._stored) == 3  # the shared one and two users'


# Looking up


def test_words_and_meaning_give_their_own_orders(stores: Stores, ann: int) -> None:
    stores.add(ann, document("a.txt", "cat dog", "cat cat", "owl", title=""))
    space = stores.spaces().of(ann)
    by_text = versions(stores, SHARED)
    assert space.matching("cats and cats", 5) == [by_text["cat cat"], by_text["cat dog"]]
    assert space.matching("cats", 1) == [by_text["cat cat"]]
    assert space.matching("the and of", 5) == []
    assert space.nearest(query("owl"), 1) == [(by_text["owl"], 1.0)]
    assert space.similarities(query("owl"), [by_text["owl"], 999]) == {by_text["owl"]: 1.0}


def test_what_one_user_says_moves_nothing_that_another_finds(stores: Stores, ann: int, bob: int) -> None:
    for number in range(30):
        stores.say(ann, f"otter {number}")
        stores.say(ann, f"badger {number}")
    space = stores.spaces().of(ann)
    asked, far = "otter badger", query("elk")

    def found() -> dict[int, float]:
        return dict(space.found(asked, far, 20).lexical)

    before = found()
    for number in range(80):
        stores.say(bob, f"badger {number}")
    assert found() == before


def test_a_passage_tells_where_it_stands(stores: Stores, ann: int) -> None:
    stores.add(ann, document("a.txt", "cat", "dog", title="Pets"))
    second = versions(stores, SHARED)["dog"]
    passage = stores.spaces().of(ann).passages([second])[second]
    assert (passage.title, passage.text, passage.source, passage.position) == ("Pets", "dog", "a.txt", 1)
    assert (passage.kind, passage.scope, passage.is_shared) == ("document", "shared", True)
    assert passage.created_at.tzinfo is not None


def test_a_whole_document_is_the_users_own_or_shared_and_never_a_part_of_a_longer_one(
    stores: Stores, ann: int, bob: int
) -> None:
    stores.add(ann, document("a.txt", "one", "two", "three"), document("b.txt", "four"))
    stores.say(ann, "mine")
    ids = versions(stores, SHARED)
    [own] = stores.texts(own_space(ann))
    space = stores.spaces(ExactVectors(DIMENSION)).of(bob)
    assert [passage.text for passage in space.whole(ids["two"], most=3)] == ["one", "two", "three"]
    assert space.whole(ids["two"], most=2) == []
    assert space.whole(own, most=3) == []
    assert space.whole(999, most=3) == []


def test_neighbours_stand_before_and_after_in_the_same_document(stores: Stores, ann: int) -> None:
    stores.add(ann, document("a.txt", "one", "two", "three"), document("b.txt", "four"))
    ids = versions(stores, SHARED)
    found = stores.spaces().of(ann).neighbours([*ids.values(), 999])
    assert found == {
        ids["one"]: (None, ids["two"]),
        ids["two"]: (ids["one"], ids["three"]),
        ids["three"]: (ids["two"], None),
        ids["four"]: (None, None),
        999: (None, None),
    }


def test_neighbours_are_live_and_ones_own(stores: Stores, ann: int, bob: int) -> None:
    stores.add(ann, document("a.txt", "one", "two", "three"))
    ids = versions(stores, SHARED)
    mine = stores.say(ann, "first", "second")
    with stores.database.writing() as sql:
        remove_versions(sql, [ids["two"]], receipt_id=None)
    spaces = stores.spaces()
    assert spaces.of(ann).neighbours([ids["one"], mine[0]]) == {
        ids["one"]: (None, None),
        mine[0]: (None, mine[1]),
    }
    assert spaces.of(bob).neighbours(mine) == dict.fromkeys(mine, (None, None))


def test_no_name_but_shared_and_a_users_is_a_space(stores: Stores) -> None:
    for name in (
        "",
        "user:",
        "user:x",
        "users:1",
        "user:1' OR '1'='1",
        "shared'",
        "user:1,shared",
        "user:-1",
    ):
        with stores.database.reading() as sql:
            for look_up in (live_among, live_passages):
                with pytest.raises(ValueError, match="is no space"):
                    look_up(sql, [1], [name])
            with pytest.raises(ValueError, match="is no space"):
                stored_vectors(sql, [1], [name], "fake")


def test_thousands_of_ids_are_looked_up(stores: Stores, ann: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stores.versions.live._LOOK_UP", 7)
    stores.add(ann, document("a.txt", *(f"text {number}" for number in range(20))))
    ids = list(range(1, 31))
    space = stores.spaces().of(ann)
    assert set(space.passages(ids)) == set(range(1, 21))
    assert set(space.similarities(query("x"), ids)) == set(range(1, 21))
    assert space.neighbours(ids)[7] == (6, 8)
    assert np.isclose(space.similarities(query("text 3"), ids)[4], 1.0)


def test_a_narrowed_space_finds_its_versions_alone_and_never_what_is_anothers(
    stores: Stores, ann: int, bob: int
) -> None:
    stores.add(ann, document("a.txt", *(f"otter {number}" for number in range(8))))
    stores.say(bob, "otter secret")
    everything = versions(stores, SHARED) | versions(stores, own_space(bob))
    wanted = [everything["otter 3"], everything["otter secret"]]
    space = stores.spaces().of(ann).narrowed(wanted)
    for asked in (space, space.by(stores.spaces())):
        found = asked.found("otter", query("otter 3"), 5)
        assert [passage.text for passage in found.passages.values()] == ["otter 3"]
        assert found.dense[everything["otter 3"]] == pytest.approx(1.0)
        assert found.lexical[everything["otter 3"]] > 0
        assert not asked.found("otter", query("otter"), 5, without=wanted).passages
    assert not space.narrowed([]).found("otter", query("otter"), 5).passages


WORDS = "otter heron river stone boat lantern winter market bread copper".split()


@pytest.mark.parametrize("dense_weight", [0.0, 0.5, 1.0])
def test_reading_what_can_be_kept_alone_finds_the_same_as_reading_everything(
    stores: Stores, ann: int, bob: int, dense_weight: float
) -> None:
    chance = random.Random(7)

    def some(count: int) -> list[str]:
        return [" ".join(chance.choices(WORDS, k=chance.randint(1, 9))) for _ in range(count)]

    for number in range(12):
        stores.add(ann, document(f"{number}.txt", *some(5)))
    for user in (ann, ann, bob):
        stores.say(user, *[f"Ada: {text}" for text in some(4)], "Where is the otter?", "Bob: By the river.")
    fusion = Fusion(dense_weight, 0.0, 0.4, 0.7, 0.15, 0.1)
    retriever = Retriever(FixedEncoder({}), keep=12, pool=20, fusion=fusion)
    space = stores.spaces().of(ann)
    for asked in some(20):
        signals = retriever.signals(asked, query(asked), space)
        assert len(signals.passages) > 12
        kept = retriever.retrieve_by(asked, query(asked), space)
        assert list(kept.candidates) == signals.ranked(fusion, keep=12)
