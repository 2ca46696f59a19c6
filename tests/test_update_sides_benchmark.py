"""What `benchmarks.update_sides` plays rounds on, and what its rounds take over."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from store_fixtures import Stores, document, fake_encode, findable

from assistant.learning.dual_encoder_swap import NAME
from benchmarks.trained_once import TrainedOnce, newest_passage
from stores.vectors.exact import Vectors


def turned(texts: Any) -> Vectors:
    return -fake_encode(texts)


def test_vectors_are_taken_over_but_for_passages_that_the_next_corpus_does_not_begin_with(
    tmp_path: Path,
) -> None:
    stores = Stores.fresh(tmp_path)
    ann, database = stores.journal.user_id("ann"), stores.database.file
    assert database is not None
    stores.add(ann, document("a.txt", "cat"))
    newest = newest_passage(database)
    stores.say(ann, "a question, which has its id from the next corpus's first passage")
    stores.indexer().catch_up()
    version = f"{NAME}-1"
    list(stores.indexer(encode=turned, encoder_version=version).encode_everything())
    once = TrainedOnce(tmp_path / "kept")
    assert once.give_vectors(database) == 0
    once.keep_vectors(database, newest)
    with stores.database.writing() as sql:
        sql.connection().exec_driver_sql(f"DELETE FROM passage_vectors WHERE encoder_version = '{version}'")
    assert once.give_vectors(database) == newest
    vectors = findable(stores.database)["vectors"]
    assert [row[0] for row in vectors if row[2] == version] == list(range(1, newest + 1))
    stores.database.close()
