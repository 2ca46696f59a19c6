"""Exports of other programs: read whole, each once, never learned from by themselves, and never trusted."""

from __future__ import annotations

import json
import sqlite3
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from cli_helpers import Vouch
from sqlalchemy import text
from store_fixtures import Stores

from assistant.library.chat_logs import exports
from assistant.library.chat_logs.exports import read_chat_log
from assistant.library.chat_logs.formats import NO_WORDS
from stores.base.errors import UnreadableDocument
from stores.conversation.branches import BranchPlace
from stores.conversation.imported_sessions import SessionImport, TakenIn, ToldSession
from stores.conversation.sessions import Sessions
from stores.conversation.turn_search import TurnSearch
from stores.database.database import Database


@pytest.fixture
def stores_(database: Database) -> Stores:
    return Stores.over(database)


@pytest.fixture
def ann(stores_: Stores) -> int:
    return stores_.journal.user_id("ann")


def node(parent: str | None, role: str, said: str, **more: Any) -> dict[str, Any]:
    message = {
        "author": {"role": role},
        "create_time": 1_700_000_000.5,
        "content": {"content_type": "text", "parts": [said]},
        "metadata": {"model_slug": "gpt-4o"} if role == "assistant" else {},
    }
    return {"parent": parent, "children": [], "message": message | more}


def chatgpt() -> dict[str, Any]:
    """Two questions; the second was changed, and its first form was answered twice."""
    nodes = {
        "root": {"parent": None, "children": ["sys"], "message": None},
        "sys": node("root", "system", "You are helpful."),
        "u1": node("sys", "user", "Where is the ladder?"),
        "t1": node("u1", "assistant", "search(ladder)", recipient="browser"),
        "a1": node("t1", "assistant", "In the cellar."),
        "u2": node("a1", "user", "And the long one?"),
        "a2": node("u2", "assistant", "On the roof."),
        "a2b": node("u2", "assistant", "In the barn."),
        "u2c": node("a1", "user", "And the short one?"),
        "a2c": node("u2c", "assistant", "Under the stairs."),
    }
    return {
        "title": "Ladders",
        "create_time": 1_700_000_000,
        "conversation_id": "c1",
        "current_node": "a2b",
        "mapping": nodes,
    }


def claude() -> dict[str, Any]:
    return {
        "uuid": "k1",
        "name": "Lamps",
        "created_at": "2026-03-04T05:06:07.000000Z",
        "chat_messages": [
            {"uuid": "m1", "sender": "human", "text": "Which lamp?", "created_at": "2026-03-04T05:06:08Z"},
            {
                "uuid": "m2",
                "sender": "assistant",
                "text": "old form",
                "content": [
                    {"type": "text", "text": "The green one."},
                    {"type": "tool_use", "text": "hidden"},
                    {"type": "text", "text": "Or the red one."},
                ],
            },
            {
                "uuid": "m3",
                "sender": "human",
                "text": "",
                "attachments": [{"file_name": "plan.pdf", "extracted_content": "…"}],
            },
        ],
    }


LLM = [
    {
        "id": "r2",
        "model": "tiny",
        "prompt": "And the bed?",
        "response": "Oak.",
        "conversation_id": "v1",
        "conversation_name": "Wood",
        "datetime_utc": "2026-01-02T03:05:00",
    },
    {
        "id": "r1",
        "model": "tiny",
        "prompt": "Which wood is the table?",
        "response": "Ash.",
        "conversation_id": "v1",
        "conversation_name": "Wood",
        "datetime_utc": "2026-01-02T03:04:00",
    },
    {"id": "r3", "model": "tiny", "prompt": "Alone", "response": "Yes.", "datetime_utc": "no date"},
]


def written(folder: Path, value: Any, name: str = "conversations.json") -> Path:
    file = folder / name
    file.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return file


def llm_database(folder: Path) -> Path:
    file = folder / "logs.db"
    connection = sqlite3.connect(file)
    connection.execute("CREATE TABLE conversations (id TEXT PRIMARY KEY, name TEXT, model TEXT)")
    connection.execute(
        "CREATE TABLE responses (id TEXT PRIMARY KEY, model TEXT, prompt TEXT, response TEXT, "
        "conversation_id TEXT REFERENCES conversations(id), duration_ms INTEGER, datetime_utc TEXT)"
    )
    connection.execute("INSERT INTO conversations VALUES ('v1', 'Wood', 'tiny')")
    connection.executemany(
        "INSERT INTO responses(id, model, prompt, response, conversation_id, datetime_utc) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        [
            (
                row["id"],
                row["model"],
                row["prompt"],
                row["response"],
                row.get("conversation_id"),
                row["datetime_utc"],
            )
            for row in LLM
        ],
    )
    connection.commit()
    connection.close()
    return file


def told(sessions: Sequence[ToldSession]) -> list[tuple[str, str, list[tuple[str, str]]]]:
    return [
        (each.origin, each.title, [(turn.message, turn.answer) for turn in each.turns]) for each in sessions
    ]


LADDERS = [
    ("Where is the ladder?", "In the cellar."),
    ("And the long one?", "On the roof."),
    ("And the long one?", "In the barn."),
    ("And the short one?", "Under the stairs."),
]
LAMPS = [("Which lamp?", "The green one.\n\nOr the red one."), ("(attached: plan.pdf)\n…", "")]
WOOD = [("Which wood is the table?", "Ash."), ("And the bed?", "Oak.")]


# Reading


def test_a_tree_of_chatgpt_becomes_turns_with_their_branches(tmp_path: Path) -> None:
    [session] = read_chat_log(written(tmp_path, [chatgpt()]))
    assert told([session]) == [("ChatGPT", "Ladders", LADDERS)]
    one, two, again, changed = session.turns
    assert [turn.follows for turn in session.turns] == ["", one.key, one.key, one.key]
    assert len({turn.key for turn in session.turns}) == 4
    assert session.last == again.key
    assert (two.key, changed.key) == ("u2", "u2c")
    assert one.model == "gpt-4o"
    assert one.at is not None
    assert f"{one.at:%Y-%m-%d %H:%M}" == "2023-11-14 22:13"


def _messages(*messages: tuple[str, str, str], **more: Any) -> ToldSession:
    """Of Claude: the sender, the words and the parent of each message; they are called m1, m2 and so on."""
    return _read(
        {
            "uuid": "k",
            "chat_messages": [
                {"uuid": f"m{number}", "sender": sender, "text": said, "parent_message_uuid": parent}
                for number, (sender, said, parent) in enumerate(messages, start=1)
            ],
        }
        | more
    )


_ROOT = "00000000-0000-4000-8000-000000000000"


def test_answers_of_claude_to_one_message_are_branches() -> None:
    session = _messages(
        ("human", "Pick a tree.", _ROOT),
        ("assistant", "Oak.", "m1"),
        ("assistant", "Yew.", "m1"),
        ("human", "A shrub too.", "m3"),
        ("assistant", "Box.", "m4"),
        ("human", "Pick a flower.", _ROOT),
    )
    assert [(turn.message, turn.answer) for turn in session.turns] == [
        ("Pick a tree.", "Oak."),
        ("Pick a tree.", "Yew."),
        ("A shrub too.", "Box."),
        ("Pick a flower.", ""),
    ]
    oak, yew, shrub, flower = session.turns
    assert (oak.follows, yew.follows, shrub.follows, flower.follows) == ("", "", yew.key, "")
    assert session.last == flower.key


def test_a_session_of_claude_goes_on_where_it_was_left() -> None:
    tree = ("human", "Pick a tree.", _ROOT), ("assistant", "Oak.", "m1"), ("assistant", "Yew.", "m1")
    session = _messages(*tree, current_leaf_message_uuid="m2")
    assert session.last == session.turns[0].key


def test_messages_of_claude_that_follow_none_follow_the_one_before() -> None:
    session = _messages(("human", "Hello.", ""), ("assistant", "One.", "gone"), ("assistant", "Two.", ""))
    assert [(turn.message, turn.answer) for turn in session.turns] == [("Hello.", "One.\n\nTwo.")]


@pytest.mark.parametrize("words", ["", "Sum this up."])
def test_the_text_of_an_attachment_of_claude_is_told(words: str) -> None:
    attached = {"file_name": "paste.txt", "extracted_content": "Barges pay 17 crowns.\n"}
    message = {"uuid": "m", "sender": "human", "text": words, "attachments": [attached]}
    [turn] = _read({"uuid": "k", "chat_messages": [message]}).turns
    assert turn.message == (f"{words}\n\n" if words else "") + "(attached: paste.txt)\nBarges pay 17 crowns."


def test_every_program_is_known_by_what_its_file_holds(tmp_path: Path) -> None:
    files = {
        "ChatGPT": written(tmp_path, [chatgpt()], "a.txt"),
        "Claude": written(tmp_path, [claude()], "b"),
        "llm": written(tmp_path, LLM, "c.json"),
    }
    assert told(list(read_chat_log(files["ChatGPT"]))) == [("ChatGPT", "Ladders", LADDERS)]
    assert told(list(read_chat_log(files["Claude"]))) == [("Claude", "Lamps", LAMPS)]
    assert told(list(read_chat_log(files["llm"]))) == [
        ("llm", "Wood", WOOD),
        ("llm", "", [("Alone", "Yes.")]),
    ]
    assert sorted(told(list(read_chat_log(llm_database(tmp_path))))) == [
        ("llm", "", [("Alone", "Yes.")]),
        ("llm", "Wood", WOOD),
    ]


def test_the_archive_is_read_as_the_file_in_it_is(tmp_path: Path) -> None:
    archive = tmp_path / "export.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("user.json", "{}")
        packed.writestr("x/conversations-000.json", json.dumps([chatgpt()]))
        packed.writestr("x/conversations-001.json", json.dumps([claude()]))
    assert [each.origin for each in read_chat_log(archive)] == ["ChatGPT", "Claude"]


def test_one_conversation_alone_and_a_byte_order_mark_are_read(tmp_path: Path) -> None:
    file = tmp_path / "one.json"
    file.write_text("\ufeff\n  " + json.dumps(claude()), encoding="utf-8")
    assert len(list(read_chat_log(file))) == 1


def test_a_long_file_is_read_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exports, "_PIECE", 7)
    many = [claude() | {"uuid": f"k{number}", "name": "Lämpchen 灯 " * number} for number in range(9)]
    file = written(tmp_path, json.dumps(many, ensure_ascii=False, indent=1))
    assert [each.key for each in read_chat_log(file)] == [f"k{number}" for number in range(9)]


# Files that are not to be trusted


@pytest.mark.parametrize(
    "content",
    [
        "",
        "hello",
        "[",
        "[]",
        "{}",
        "[1, 2]",
        "[[[[",
        '[{"mapping": {}}',
        '[{"mapping": {}} {"mapping"',
        '[{"title": "a diary"}]',
        '{"mapping": ' + '{"a": ' * 50_000,
        "[" * 100_000,
        '[{"mapping": ' + "9" * 10_000 + "}]",
    ],
    ids=range(13),
)
def test_what_is_no_export_is_told_plainly(tmp_path: Path, content: str) -> None:
    with pytest.raises(UnreadableDocument) as raised:
        list(read_chat_log(written(tmp_path, content)))
    assert "conversations.json" in raised.value.message


def test_bytes_that_are_no_text_archive_or_database_are_told(tmp_path: Path) -> None:
    for number, content in enumerate((b"\xff\xfe[\0", b"PK\x03\x04 no", b"SQLite format 3\0" + b"x" * 5_000)):
        file = tmp_path / str(number)
        file.write_bytes(content)
        with pytest.raises(UnreadableDocument):
            list(read_chat_log(file))
    with pytest.raises(UnreadableDocument):
        list(read_chat_log(tmp_path))


def test_a_database_of_something_else_is_told(tmp_path: Path) -> None:
    file = tmp_path / "logs.db"
    connection = sqlite3.connect(file)
    connection.execute("CREATE TABLE songs (id)")
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS id FROM n"
    connection.execute(f"CREATE VIEW responses AS {endless}")
    connection.commit()
    connection.close()
    with pytest.raises(UnreadableDocument, match="no table of responses"):
        list(read_chat_log(file))


def test_a_file_that_is_too_large_or_unpacks_to_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = tmp_path / "large.json"
    with large.open("wb") as file:
        file.truncate(500_000_001)
    with pytest.raises(UnreadableDocument, match="500 MB can be read"):
        list(read_chat_log(large))
    monkeypatch.setattr(exports, "MOST_BYTES", 1_000_000)
    archive = tmp_path / "bomb.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("conversations.json", "[" + " " * 5_000_000 + "]")
    with pytest.raises(UnreadableDocument, match="packed into it"):
        list(read_chat_log(archive))


def test_a_conversation_without_an_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exports, "_MOST_OF_ONE", 10_000)
    monkeypatch.setattr(exports, "_PIECE", 1_000)
    file = written(tmp_path, '[{"mapping": {"a": "' + "x" * 100_000)
    with pytest.raises(UnreadableDocument, match="or no end"):
        list(read_chat_log(file))


def test_a_tree_as_deep_as_it_is_long_is_read(tmp_path: Path) -> None:
    nodes = {"0": node(None, "user", "message 0")}
    for number in range(1, 12_000):
        role = "assistant" if number % 2 else "user"
        nodes[str(number)] = node(str(number - 1), role, f"message {number}")
    record = {"title": "Deep", "current_node": "11999", "mapping": nodes}
    [session] = read_chat_log(written(tmp_path, [record]))
    assert len(session.turns) == 6_000
    assert session.last == session.turns[-1].key


def test_a_tree_with_circles_and_nonsense_is_read_as_far_as_it_is_one(tmp_path: Path) -> None:
    nodes: dict[str, Any] = {
        "a": node("b", "user", "in a circle"),
        "b": node("a", "assistant", "in a circle"),
        "self": node("self", "user", "alone"),
        "u": node("nowhere", "user", "Is it open?"),
        "x": {"parent": "u", "message": {"author": 7, "content": [1], "metadata": None}},
        "y": {"parent": "x", "message": "text"},
        "z": 5,
        "v": {
            "parent": "y",
            "message": {"author": {"role": "assistant"}, "content": {"parts": [{"asset": 1}, None, 3]}},
        },
        "h": node(
            "v", "user", "hidden", metadata={"is_visually_hidden_from_conversation": True}, create_time="soon"
        ),
    }
    record = {"title": ["no title"], "create_time": float("inf"), "current_node": "a", "mapping": nodes}
    [session] = read_chat_log(written(tmp_path, [record]))
    assert told([session]) == [("ChatGPT", "", [("Is it open?", NO_WORDS)])]
    assert session.last == ""
    assert session.at is None


def test_branches_that_would_repeat_a_long_answer_without_end_are_cut_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assistant.library.chat_logs.formats._MOST_CHARACTERS", 50_000)
    nodes = {"u": node(None, "user", "?"), "a": node("u", "assistant", "x" * 10_000)}
    nodes |= {f"l{number}": node("a", "assistant", "y") for number in range(1_000)}
    [session] = read_chat_log(written(tmp_path, [{"mapping": nodes}]))
    assert 1 <= len(session.turns) <= 5


# Taking in


def test_a_file_is_taken_in_once_and_what_came_since_is_added(stores_: Stores, ann: int) -> None:
    store = SessionImport(stores_.database)
    record = chatgpt()
    session = _read(record)
    assert store.take_in(ann, [session]) == TakenIn(1, 4, 0)
    assert store.take_in(ann, [session]) == TakenIn(0, 0, 4)
    record["mapping"]["u3"] = node("a2b", "user", "And the barn's ladder?")
    record["mapping"]["a3"] = node("u3", "assistant", "It is lost.")
    record["current_node"] = "a3"
    assert store.take_in(ann, [_read(record)]) == TakenIn(0, 1, 4)
    [line] = Sessions(stores_.database).lines(ann)
    assert (line.title, line.turns, line.origin) == ("Ladders", 5, "ChatGPT")
    shown = [(turn.message, turn.answer) for turn in stores_.journal.turns(ann, line.session_id)]
    assert shown == [LADDERS[0], LADDERS[2], ("And the barn's ladder?", "It is lost.")]
    assert Sessions(stores_.database).branch(ann, line.session_id) == BranchPlace(3, 3)


def test_what_is_taken_in_is_the_users_alone_found_and_not_learned(stores_: Stores, ann: int) -> None:
    store, bob = SessionImport(stores_.database), stores_.journal.user_id("bob")
    store.take_in(ann, [_read(claude())])
    search = TurnSearch(stores_.database)
    [hit] = search.find(ann, "green lamp")
    assert (hit.title, hit.excerpt) == ("Lamps", "Which lamp?")
    assert search.find(bob, "lamp") == []
    assert store.take_in(bob, [_read(claude())]) == TakenIn(1, 2, 0)
    assert len(search.find(bob, "green lamp")) == 1
    assert stores_.own_texts(ann) == set()
    with stores_.database.reading() as sql:
        assert sql.execute(text("SELECT count(*) FROM jobs")).scalar() == 0
    assert stores_.journal.last_session(ann) is None  # it is not gone on with by itself
    assert Sessions(stores_.database).prompts(ann) == []


def test_what_is_to_be_learned_becomes_messages_with_a_job_each(stores_: Stores, ann: int) -> None:
    SessionImport(stores_.database).take_in(ann, [_read(claude())], cut=lambda message: [message])
    assert stores_.own_texts(ann) == {"Which lamp?", "(attached: plan.pdf)\n…"}
    with stores_.database.reading() as sql:
        waiting = sql.execute(
            text("SELECT count(*) FROM jobs WHERE kind = 'summarize' AND not_before IS NULL")
        )
        assert waiting.scalar() == 2


def test_one_goes_on_in_a_session_that_was_taken_in(stores_: Stores, ann: int) -> None:
    SessionImport(stores_.database).take_in(ann, [_read(chatgpt())])
    [line] = Sessions(stores_.database).lines(ann)
    stores_.journal.accept(ann, line.session_id, "And now?", parts=["And now?"])
    shown = [turn.message for turn in stores_.journal.turns(ann, line.session_id)]
    assert shown == ["Where is the ladder?", "And the long one?", "And now?"]
    assert stores_.journal.turns(ann, line.session_id)[1].answer == "In the barn."


def _read(record: dict[str, Any]) -> ToldSession:
    from assistant.library.chat_logs.formats import chatgpt_session, claude_session

    session = chatgpt_session(record) if "mapping" in record else claude_session(record)
    assert session is not None
    return session


# The commands


def test_import_sessions_and_export_from_the_command_line(tmp_path: Path) -> None:
    vouch = Vouch(tmp_path / "home", tmp_path / "encoders")  # none of these loads a model
    file = written(tmp_path, [chatgpt(), claude()])
    assert vouch.run("import", str(file), "--dry-run").out == "2 sessions, 6 turns\n"
    vouch.run("sessions", code=1)
    for said in (
        "new: 2 sessions, 6 turns; known already: 0 turns\n",
        "new: 0 sessions, 0 turns; known already: 6 turns\n",
    ):
        assert vouch.run("import", str(file)).out == said
    listed = vouch.run("sessions").cells
    assert sorted(line[3] for line in listed) == ["Ladders", "Lamps"]
    assert [line["title"] for line in vouch.run("sessions", "--query", "lamp", "--json").objects] == ["Lamps"]
    [ladders] = [line[0] for line in listed if line[3] == "Ladders"]
    page = vouch.run("export", ladders).out
    assert page.startswith("# Ladders\n")
    assert "from ChatGPT" in page
    assert "In the barn." in page
    assert "On the roof." not in page  # another branch
    whole = vouch.run("export", ladders, "--json").object
    assert whole["session"]["imported_from"] == "ChatGPT"
    assert [turn["answer"] for turn in whole["turns"]] == [answer for _, answer in LADDERS]
    assert [turn["follows"] for turn in whole["turns"]] == [None, *[whole["turns"][0]["id"]] * 3]
    out = tmp_path / "ladders.json"
    vouch.run("export", ladders, "-o", str(out))
    assert json.loads(out.read_text(encoding="utf-8")) == whole
    assert out.stat().st_mode & 0o777 == 0o600
    assert "is there already" in vouch.run("export", ladders, "-o", str(out), code=2).err
    vouch.run("export", "999", code=1)
    vouch.run("export", ladders, "--user", "bob", code=1)


def test_a_file_that_cannot_be_read_is_an_error_that_names_it(tmp_path: Path) -> None:
    vouch = Vouch(tmp_path / "home", tmp_path / "encoders")
    failed = vouch.run("import", str(written(tmp_path, [{"diary": 1}])), code=1)
    assert "conversations.json: it holds no conversation of ChatGPT, Claude or llm" in failed.err
    assert failed.out == ""
