"""vouch replay, wrongly called or given what does not fit: what is told, before anything is played."""

from __future__ import annotations

import errno
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import pytest
import replay_towns
from cli_helpers import Vouch

from assistant.commands.replay import disk
from assistant.commands.replay.disk import disk_told, make_folder
from assistant.commands.replay.parameters import Limit, Seeds, Share
from assistant.learning.training_process import TrainingFailed
from assistant.replay.methods.choice import MethodChoice
from assistant.replay.metrics.figure_names import check_limit, parts_of
from assistant.replay.metrics.measures import MEASURES
from assistant.replay.runs.inputs import Streamed, read_inputs
from stores.base.errors import StoreUnavailable, UnreadableDocument, WrongUsage


@pytest.fixture
def vouch(tmp_path: Path, minilm_folder: Path) -> Vouch:
    replay_towns.write(tmp_path)
    return Vouch(tmp_path, minilm_folder.parent)


TOWNS = ("towns.jsonl", "--passages", "passages.jsonl", "--method", "frozen", "--first", "3")


def table(file: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


# Questions and passages that belong together


class Tables:
    """Two questions and two passages, as newcomers write them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.told: list[str] = []
        self.asked = [
            {"id": i, "question": f"What {i}?", "answers": ["a"], "passage_ids": [i]} for i in ("one", "two")
        ]
        self.passages = [{"id": i, "title": f"On {i}", "text": f"A text on {i}."} for i in ("one", "two")]

    def read(self, **how: Any) -> Streamed:
        asked, passages = self.folder / "asked.jsonl", self.folder / "p.jsonl"
        table(asked, self.asked)
        table(passages, self.passages)
        given: dict[str, Any] = {"data": None, "splits": (), "passages": passages}
        return read_inputs([str(asked)], tell=self.told.append, **(given | how))


@pytest.fixture
def tables(tmp_path: Path) -> Tables:
    return Tables(tmp_path)


@pytest.mark.parametrize("name", ["id", "docid"])
def test_passages_columns_are_guessed_too(tables: Tables, name: str) -> None:
    tables.passages = [{name: row.pop("id"), **row} for row in tables.passages]
    found = tables.read()
    assert [(p.id, p.title, p.text) for p in found.passages] == [
        ("one", "On one", "A text on one."),
        ("two", "On two", "A text on two."),
    ]
    assert tables.told == []


def test_gold_that_is_nowhere_is_refused(tables: Tables) -> None:
    tables.passages = [{"key": row["id"], "text": row["text"]} for row in tables.passages]
    with pytest.raises(WrongUsage, match=r"p\.jsonl has none .*asked\.jsonl names .*'one'") as raised:
        tables.read()
    assert raised.value.hint.startswith("The column of their ids is called id or pid or ")
    assert "Its columns: key, text." in raised.value.hint


def test_a_passage_is_known_by_its_text_under_the_id_that_it_has(tables: Tables) -> None:
    for row, passage in zip(tables.asked, tables.passages, strict=True):
        row.pop("passage_ids")
        row["context"] = passage["text"]
    assert [q.gold for q in tables.read().parts[0]] == [{"one"}, {"two"}]
    tables.passages = [{**row, "text": f"{row['text']} And more."} for row in tables.passages]
    with pytest.raises(WrongUsage, match=r"no text of .* column 'context' is a passage of"):
        tables.read()


@pytest.mark.parametrize(
    ("names", "domains"),
    [
        (("a/asked.jsonl", "b/asked.jsonl"), ["asked", "asked 2"]),
        (("All.jsonl", "last third.jsonl", "gain.jsonl"), ["All 1", "last third 2", "gain 3"]),
    ],
)
def test_each_set_is_a_domain_whose_name_no_other_part_of_the_stream_has(
    tmp_path: Path, names: Sequence[str], domains: Sequence[str]
) -> None:
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        table(tmp_path / name, [{"question": "What?", "answer": "a", "context": "c"}])
    named = [str(tmp_path / name) for name in names]
    asked = read_inputs(named, data=None, splits=()).questions(seed=1, first=None)
    assert [question.domain for question in asked] == domains
    assert parts_of(asked) == ["all", "first third", "second third", "last third", *domains]


def test_what_is_of_tables_is_refused_with_a_known_set(tmp_path: Path) -> None:
    def read(**how: Any) -> Streamed:
        return read_inputs(["nq"], **({"data": tmp_path, "splits": ()} | how))

    with pytest.raises(WrongUsage, match="nq is a known set and brings its passages along"):
        read(passages=tmp_path)
    with pytest.raises(WrongUsage, match="nq has no split 'foo'") as raised:
        read(splits=("foo",))
    assert raised.value.hint == "It has train and dev and test."
    with pytest.raises(WrongUsage, match="there is no folder"):
        read(data=tmp_path / "none")
    (tmp_path / "nq").mkdir()
    (tmp_path / "nq/passages.jsonl.gz").write_bytes(b"no gzip")
    with pytest.raises(UnreadableDocument, match=r"passages\.jsonl\.gz: it is no gzip file"):
        read()


# Methods, numbers and limits


@pytest.mark.parametrize("text", ["frozen:0.3", "luf:", "rafe"])
def test_a_word_that_is_no_method_is_refused(text: str) -> None:
    with pytest.raises(WrongUsage, match=f"there is no method '{text}'") as raised:
        MethodChoice.read(text)
    assert raised.value.hint == "There are frozen, luf, evo, evo-cautious, flowrag, dual-feedback, unirag."


@pytest.mark.parametrize(
    ("kind", "given", "complaint"),
    [
        (Seeds(), "one", "'one' is not like 1,2,3"),
        (Seeds(), "1,-1", "a seed is a whole number from 0"),
        (Share(), "80", "it is 80, but must be from 0 to 1"),
        (Share(), "nan", "it is nan, but must be from 0 to 1"),
        (Limit(), "F1", "'F1' is not METRIC=VALUE with a number"),
        (Limit(), "F1=much", "'F1=much' is not METRIC=VALUE with a number"),
    ],
)
def test_an_option_that_cannot_be_is_told_in_words(
    kind: click.ParamType[Any], given: str, complaint: str
) -> None:
    with pytest.raises(click.BadParameter) as raised:
        kind.convert(given, None, None)
    assert complaint in raised.value.message


def limit(path: str, value: float, *, has_gains: bool = True) -> None:
    parts = ["all", "last third", "NQ", "shop/rules"]
    check_limit(path, value, parts=parts, measures=MEASURES, has_gains=has_gains)


@pytest.mark.parametrize(
    ("path", "value", "complaint"),
    [
        ("F1", 80, "F1=80: that figure is a share from 0 to 1"),
        ("F1", float("nan"), "that is no limit"),
        ("R@50", 0.5, "there is no figure 'R@50'"),
        ("all/nq/F1", 0.5, "there is no figure"),
    ],
)
def test_limits_that_no_figure_can_have_are_refused(path: str, value: float, complaint: str) -> None:
    with pytest.raises(WrongUsage, match=complaint):
        limit(path, value)


def test_a_limit_is_checked_before_anything_is_played(vouch: Vouch) -> None:
    refused = vouch.run("replay", *TOWNS, "--fail-under", "F1=80", code=2)
    assert "80 % is 0.8" in refused.err
    assert "there is no figure 'foo'" in vouch.run("replay", *TOWNS, "--fail-under", "foo=0.1", code=2).err
    assert not (vouch.folder / "cache/vouch/replays").exists()
    failed = vouch.run("replay", *TOWNS, "--fail-under", "tokens=1e9", code=1)
    assert "tokens of frozen is " in failed.err


# Options that do not go together


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        (["1", "--against", "live", "--method", "luf"], "--method does not go with --model and --against"),
        (["1", "--against", "live", "--first", "3"], "--newest N plays the last N"),
        ([*TOWNS, "--newest", "3"], "--newest goes only with --model and --against"),
        ([*TOWNS, "--method", "unirag", "--method", "luf"], "unirag plays conversations of the named sets"),
        ([*TOWNS, "--first", "0"], "0 is not in the range x>=1"),
        ([*TOWNS, "--out", ""], "it is empty"),
        ([*TOWNS, "--out", "towns.jsonl"], "towns.jsonl cannot be a folder: towns.jsonl is a file"),
        (["1", "--against", "live", "--fail-under", "unchanged=2"], "80 % is 0.8."),
        (["empty.jsonl"], "empty.jsonl has no rows"),
        (["latin.jsonl"], "latin.jsonl: line 1 is not UTF-8"),
    ],
)
def test_what_does_not_go_together_is_refused(vouch: Vouch, given: list[str], complaint: str) -> None:
    for name, content in (("empty", b""), ("latin", b"\xe9")):
        vouch.write(f"{name}.jsonl", content)
    assert complaint in vouch.run("replay", *given, code=2).err


# The folder and its disk


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    make_folder(tmp_path / "a" / "b")
    assert list((tmp_path / "a" / "b").iterdir()) == []
    (tmp_path / "file").touch()
    with pytest.raises(WrongUsage, match=r"b cannot be a folder: .*file is a file"):
        make_folder(tmp_path / "file" / "b")


def full(*_given: Any, **_how: Any) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def copied_onto_a_full_disk() -> None:
    raise shutil.Error([("a", "b", "[Errno 28] No space left on device")])


@pytest.mark.parametrize("fails", [full, copied_onto_a_full_disk])
def test_a_full_disk_is_told_with_how_to_go_on(tmp_path: Path, fails: Callable[[], None]) -> None:
    with pytest.raises(StoreUnavailable, match="the disk is full") as raised, disk_told(tmp_path):
        fails()
    assert raised.value.exit_code == 3
    assert "The same command, without --fresh, goes on where it was." in raised.value.hint
    with pytest.raises(StoreUnavailable) as raised, disk_told(tmp_path, goes_on=False):
        fails()
    assert "same command" not in raised.value.hint


def test_a_training_that_failed_on_a_full_disk_is_told_as_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def train() -> None:
        with disk_told(tmp_path):
            raise TrainingFailed("the training failed: exit code 1")

    with pytest.raises(TrainingFailed):
        train()
    monkeypatch.setattr(disk, "room", lambda _: 0)
    with pytest.raises(StoreUnavailable, match="the disk is full"):
        train()


@pytest.mark.parametrize("failed", [FileNotFoundError(errno.ENOENT, "No such file"), TrainingFailed("exit")])
def test_a_folder_that_was_taken_away_is_told(tmp_path: Path, failed: Exception) -> None:
    with pytest.raises(StoreUnavailable, match="out was taken away") as raised, disk_told(tmp_path / "out"):
        raise failed
    assert raised.value.hint == "The same command begins anew."


def test_what_may_not_be_written_is_told_and_defects_stay_defects(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="plan: Permission denied"), disk_told(tmp_path):
        raise OSError(errno.EACCES, "Permission denied", "plan")
    for defect in (FileNotFoundError(errno.ENOENT, "No such file"), BrokenPipeError(errno.EPIPE, "Broken")):
        with pytest.raises(type(defect)), disk_told(tmp_path):
            raise defect
