"""Vouch from Python: what is added is found, answered from, undone and forgotten, by its user alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from scripted_server import ScriptedServer, refuses, says

from vouch import Answer, AsyncVouch, Vouch, VouchError

MIA = "My sister Mia lives in Porto."
ASKED = "Where does my sister Mia live?"


@pytest.fixture
def place(tmp_path: Path, minilm_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("DATA", "CONFIG", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    monkeypatch.setenv("XDG_CACHE_HOME", str(minilm_folder.parent.parent))
    monkeypatch.delenv("VOUCH_USER", raising=False)
    return tmp_path


@pytest.fixture
def ann(place: Path) -> Iterator[Vouch]:
    with Vouch(user="ann", data=place / "data") as vouch:
        yield vouch


def test_what_is_added_answers_with_its_source_and_is_explained(ann: Vouch) -> None:
    receipt = ann.add(MIA)
    answer = ann.ask(ASKED)
    assert "Porto" in answer.text
    assert answer.sure
    assert [source.passage for source in answer.sources if source.is_cited] == [receipt.passage]
    why = ann.why(answer.turn)
    assert (why.message, why.found[0].used) == (ASKED, "[1]")
    assert [version.text for version in ann.history(receipt.passage or 0)] == [MIA]


def test_of_a_conversation_what_its_user_states_is_remembered(ann: Vouch) -> None:
    receipts = ann.add(
        [
            {"role": "system", "content": "My name is Rob."},
            {"role": "user", "content": MIA},
            {"role": "assistant", "content": "My aunt lives in Rome."},
            {"role": "user", "content": "Thanks!"},
        ]
    )
    assert [receipt.text for receipt in receipts] == [MIA]
    assert not any("Rob" in found.text or "Rome" in found.text for found in ann.search("Rob aunt Rome"))


def test_parts_of_a_message_are_its_text_and_what_holds_none_adds_nothing(ann: Vouch) -> None:
    parts = [{"type": "text", "text": MIA}]
    said = [{"role": "user", "content": "Hello"}, {"role": "user", "content": parts}]
    replies = [{"role": "assistant", "content": "One."}, {"role": "assistant", "content": "Two."}]
    assert [receipt.text for receipt in ann.add([*said, *replies, {"role": "user", "content": " "}])] == [MIA]
    for nothing in ([], [{"role": "user", "content": " "}], [{"role": "user", "content": 5}]):
        with pytest.raises(VouchError):
            ann.add(nothing)
    assert len(ann.search("Mia Porto")) >= 1


def test_a_write_is_undone_and_a_passage_forgotten(ann: Vouch) -> None:
    first = ann.add(MIA)
    assert ann.undo(first) == [first.id]
    assert ann.search("Mia Porto") == []
    second = ann.add(MIA)
    assert ann.forget(second.passage or 0).passages == (second.passage,)
    assert ann.history(second.passage or 0)[0].text == ""


def test_no_method_reaches_another_user(ann: Vouch, place: Path) -> None:
    receipt = ann.add(MIA)
    turn = ann.ask(ASKED).turn
    with Vouch(user="bob", data=place / "data") as bob:
        assert bob.search("Mia Porto") == []
        for reaches in (
            lambda: bob.undo(receipt),
            lambda: bob.history(receipt.passage or 0),
            lambda: bob.forget(receipt.passage or 0),
            lambda: bob.why(turn),
            lambda: bob.feedback(turn, good=True),
            lambda: bob.feedback(turn, teach="She lives in Rome."),
            lambda: bob.ask(ASKED, session=1),
        ):
            with pytest.raises(VouchError):
                reaches()
        assert [line for line in bob.export() if "Porto" in str(line)] == []
    assert ann.search("Mia Porto")[0].text == MIA


def test_documents_are_read_and_one_that_cannot_be_is_told(ann: Vouch, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/rules.md").write_text("# Rules\n\nThe reading room opens at ten.\n")
    (tmp_path / "docs/broken.pdf").write_bytes(b"no pdf")
    became = {Path(each.source).name: each for each in ann.ingest(tmp_path / "docs")}
    assert (became["rules.md"].change, became["broken.pdf"].change) == ("new", "unread")
    assert became["broken.pdf"].problem
    assert "ten" in ann.ask("When does the reading room open?").text


def test_feedback_is_kept_and_what_is_taught_answers(ann: Vouch) -> None:
    ann.add(MIA)
    answer = ann.ask(ASKED)
    assert ann.feedback(answer.turn, good=True) is None
    taught = ann.feedback(answer.turn, teach="My sister Mia lives in Braga now.")
    assert taught is not None
    assert any("Braga" in found.text for found in ann.search("Mia Braga"))
    with pytest.raises(VouchError, match="says nothing"):
        ann.feedback(answer.turn, teach="yes")


def test_nothing_is_no_question_and_no_memory(ann: Vouch) -> None:
    for nothing in (lambda: ann.add(" "), lambda: ann.ask(""), lambda: ann.search(" "), ann.forget):
        with pytest.raises(VouchError):
            nothing()


def test_pieces_of_a_model_come_one_by_one_and_its_failure_is_raised(place: Path) -> None:
    with ScriptedServer([says("In ", "Porto."), refuses(401, "no")]) as server:
        settings = place / "settings.toml"
        model = f'[model]\nbackend = "openai"\nbase_url = "{server.base_url}"\nname = "s"\nretries = 0\n'
        settings.write_text(f'{model}[memory]\nagents = "reader"\n')
        with Vouch(user="ann", data=place / "data", settings=settings) as ann:
            with ann.stream(ASKED) as pieces:
                assert list(pieces) == ["In ", "Porto."]
            assert pieces.answer.text == "In Porto."
            with pytest.raises(VouchError, match="wants a key"):
                ann.ask(ASKED, session=pieces.answer.session)


async def test_the_same_is_awaited(place: Path) -> None:
    async with AsyncVouch(user="ann", data=place / "data") as ann:
        receipt = await ann.add(MIA)
        said = [piece async for piece in ann.stream(ASKED)]
        assert isinstance(said[-1], Answer)
        assert "".join(piece for piece in said if isinstance(piece, str)) == said[-1].text
        assert await ann.undo(receipt) == [receipt.id]
