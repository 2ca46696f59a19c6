"""Vouch from Python: what is added is found, answered from, undone and forgotten, by its user alone."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from scripted_server import ScriptedServer, refuses, says

from vouch import Answer, AsyncVouch, Vouch, VouchError

MIA = "My sister Mia lives in Porto."
ASKED = "Where does my sister Mia live?"


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


def test_a_message_is_durable_once_its_answer_begins(ann: Vouch) -> None:
    stores = ann._assistant.stores
    for number in range(5):
        with ann.stream(f"Is hall {number} open?") as pieces:
            kept = stores.journal.turns(stores.journal.user_id("ann"), pieces.session, limit=5)
            assert [turn.message for turn in kept] == [f"Is hall {number} open?"]
            assert list(pieces)


def test_who_leaves_while_a_message_is_being_kept_stops_its_answer(
    ann: Vouch, monkeypatch: pytest.MonkeyPatch
) -> None:
    pieces = ann.stream("Is the hall open?")
    stopped = []
    monkeypatch.setattr(pieces, "stop", lambda: stopped.append(True))

    waits = threading.Event.wait

    def interrupted(flag: threading.Event, seconds: float | None = None) -> bool:
        if threading.current_thread() is threading.main_thread() and seconds is not None:
            raise KeyboardInterrupt
        return waits(flag, seconds)

    with monkeypatch.context() as waiting:
        waiting.setattr(threading.Event, "wait", interrupted)
        with pytest.raises(KeyboardInterrupt):
            pieces.__enter__()
    assert stopped


async def test_the_same_is_awaited(place: Path) -> None:
    async with AsyncVouch(user="ann", data=place / "data") as ann:
        receipt = await ann.add(MIA)
        said = [piece async for piece in ann.stream(ASKED)]
        assert isinstance(said[-1], Answer)
        assert "".join(piece for piece in said if isinstance(piece, str)) == said[-1].text
        assert await ann.undo(receipt) == [receipt.id]


def test_a_conversation_goes_on_in_the_session_that_holds_it(ann: Vouch) -> None:
    hello = {"role": "user", "content": MIA}
    first = ann.ask([hello])
    said = [hello, {"role": "assistant", "content": first.text}, {"role": "user", "content": ASKED}]
    second = ann.ask(said)
    assert second.session == first.session
    assert "Porto" in second.text
    again = ann.ask(said)  # the program has its last message answered anew
    assert again.session == first.session
    other = [hello, {"role": "assistant", "content": "Something else."}, {"role": "user", "content": ASKED}]
    assert ann.ask(other).session != first.session
    assert ann.ask([hello]).session != first.session


def test_what_no_session_holds_is_read_and_not_learned(ann: Vouch) -> None:
    said = [
        {"role": "system", "content": "Answer in one word."},
        {"role": "user", "content": "My brother Tom lives in Rome."},
        {"role": "assistant", "content": "Noted."},
        {"role": "user", "content": [{"type": "text", "text": "When does it open?"}]},
    ]
    answer = ann.ask(said)
    assert answer.receipts == ()
    assert not any("Tom" in found.text for found in ann.search("brother Tom Rome"))
    sessions = ann._assistant.stores.sessions
    assert sessions.system(ann._user_id, answer.session) == "Answer in one word."
    assert [turn.message for turn in sessions.tree(ann._user_id, answer.session).turns] == [
        "My brother Tom lives in Rome.",
        "When does it open?",
    ]


def test_only_a_message_of_the_user_is_answered_and_no_image_is_fetched(ann: Vouch) -> None:
    def image(url: object) -> list[dict[str, object]]:
        parts = [{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": url}}]
        return [{"role": "user", "content": parts}]

    for wrong in (
        [],
        [{"role": "assistant", "content": "Yes."}],
        [{"role": "user", "content": ""}],
        image("https://example.org/cat.png"),
        image("data:image/png;base64,!!"),
        image("data:image/png;base64,é"),
        image("data:image/png;base64,AAAA"),
        image(None),
    ):
        with pytest.raises(VouchError):
            ann.ask(wrong)


def test_several_users_of_one_process_are_apart(ann: Vouch) -> None:
    bob = Vouch.of(ann._assistant, "bob", patience=5.0)
    with ThreadPoolExecutor(4) as threads:
        for vouch, told in ((ann, MIA), (bob, "My sister Lea lives in Oslo.")):
            list(threads.map(vouch.ask, [told] * 3))
        answers = list(threads.map(lambda vouch: vouch.ask(ASKED).text, [ann, bob] * 3))
    assert all("Porto" in text for text in answers[::2])
    assert not any("Porto" in text for text in answers[1::2])
    bob.close()
    assert ann.search("Mia Porto")


def test_no_program_reads_a_private_session(ann: Vouch) -> None:
    journal = ann._assistant.stores.journal
    session = journal.open_session(ann._user_id, is_private=True)
    turn = ann._assistant.turns.pipeline.keep(ann._user_id, session, "My secret is zq.", "Noted.")
    for reaches in (lambda: ann.ask("What is my secret?", session), lambda: ann.why(turn)):
        with pytest.raises(VouchError, match="private"):
            reaches()


def test_requests_at_once_with_the_same_beginning_are_branches_of_it(ann: Vouch) -> None:
    first = ann.ask([{"role": "user", "content": MIA}])
    said = [{"role": "user", "content": MIA}, {"role": "assistant", "content": first.text}]
    asked = [f"Where does my sister Mia live, in {number} words?" for number in range(4)]
    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(lambda text: ann.ask([*said, {"role": "user", "content": text}]), asked))
    tree = ann._assistant.stores.sessions.tree(ann._user_id, first.session)
    assert {answer.session for answer in answers} == {first.session}
    assert {tree.follows[answer.turn] for answer in answers} == {first.turn}
