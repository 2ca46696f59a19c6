"""The chat in plain mode: golden transcripts through a pipe, and a person at a pseudo-terminal."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest
from cli_helpers import ENDS_WITHIN_SECONDS, HANDBOOK, QUESTION, Vouch, read_until, tell_to_end
from scripted_server import ScriptedServer, hangs, refuses, says

from stores.database.tables import Turn


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, minilm_folder: Path) -> Vouch:
    """An empty store, made once; tests work on copies of it."""
    made = Vouch(tmp_path_factory.mktemp("chat"), minilm_folder.parent)
    made.chat("/help")
    return made


@pytest.fixture
def vouch(library: Vouch, tmp_path: Path) -> Vouch:
    return library.copy_to(tmp_path)


def read_handbook(vouch: Vouch, content: str = HANDBOOK) -> None:
    vouch.run("ingest", "--shared", vouch.write("handbook.md", content))


def turns(vouch: Vouch) -> list[Turn]:
    """Every turn of ann, oldest first."""
    with vouch.database() as database, database.reading() as sql:
        return sql.query(Turn).order_by(Turn.id).all()  # type: ignore[arg-type]


def without_dates(transcript: str) -> str:
    return re.sub(r"(?<=of |on )\d\d? [A-Z]\w+(?=\)|: “)", "TODAY", transcript)


# Through a pipe ---------------------------------------------------------------------------------


def test_a_conversation_through_a_pipe_reads_as_its_transcript(vouch: Vouch) -> None:
    path = vouch.write("handbook.md", HANDBOOK)
    told = vouch.chat(
        f"/ingest {path}",
        QUESTION,
        "/good",
        "",
        "My locker number is 214.",
        "/memory locker",
        "/remember I take my tea without milk.",
        "/undo",
        "/quit",
        "never said",
    )
    assert (
        told
        == f"""\
You: /ingest {path}
{path}: 1 passage, 1 new

You: {QUESTION}
Assistant: 10:00. “The reading room opens at 10:00 on Saturdays.” [1]
Source 1, yours: House rules

You: /good
Noted for turn 1: good.

You: My locker number is 214.
Assistant: Noted: My locker number is 214.

Learned, yours, as 4: “My locker number is 214.”. /undo 2 takes it back.

You: /memory locker
    4  fact        My locker number is 214.
    3  message     My locker number is 214.

You: /remember I take my tea without milk.
Remembered, yours, as 5: “I take my tea without milk.”. /undo takes it back.

You: /undo
Undone: added “I take my tea without milk.”.

You: /quit
Bye.

"""
    )


def test_a_chat_gives_no_json_and_says_what_does(vouch: Vouch) -> None:
    for given in (["chat", "--json"], ["--json", "chat"]):
        ran = vouch.run(*given, stdin="Hello.\n", code=2)
        assert ran.out == ""
        assert ran.complaint["error"] == "a chat has no results to give as JSON"
        assert "`vouch ask --json TEXT`" in ran.complaint["hint"]
        assert turns(vouch) == []


def test_what_was_told_is_known_after_a_restart_and_in_another_session(vouch: Vouch) -> None:
    vouch.chat("My locker number is 214.")
    told = without_dates(vouch.chat("What is my locker number?"))
    assert (
        told
        == """\
You: What is my locker number?
Assistant: 214. You said on TODAY: “My locker number is 214.” [1]
Source 1, yours: “My locker number is 214.” (your fact of TODAY)

"""
    )


def test_a_follow_up_is_understood_from_the_question_before(vouch: Vouch) -> None:
    read_handbook(vouch, HANDBOOK + "\nThe reading room opens at 13:00 on Sundays.\n")
    told = vouch.chat(QUESTION, "and on Sundays?")
    answer = told.partition("You: and on Sundays?\nAssistant: ")[2]
    assert "“The reading room opens at 13:00 on Sundays.” [1]\n" in answer
    assert "10:00" not in answer
    why = vouch.run("chat", "--last", stdin="/why\n").out
    assert "Turn 2: and on Sundays?\nSearched as: and on Sundays? (after: When does" in why


def test_a_follow_up_is_understood_after_a_restart_with_last(vouch: Vouch) -> None:
    read_handbook(vouch, HANDBOOK + "\nThe reading room opens at 13:00 on Sundays.\n")
    vouch.chat(QUESTION)
    vouch.run("chat", "--last", stdin="and on Sundays?\n")
    first, second = turns(vouch)
    assert first.session_id == second.session_id
    assert second.standalone == f"and on Sundays? (after: {QUESTION} 10:00)"


def test_help_names_every_slash_command(vouch: Vouch) -> None:
    told = vouch.chat("/help")
    for (
        name
    ) in "help remember forget undo memory why good bad teach ingest sessions new private quit".split():
        assert f"\n/{name} " in told


def test_an_unknown_command_is_answered_with_the_nearest_and_never_sent(vouch: Vouch) -> None:
    with ScriptedServer() as server:
        vouch.use_server(server.base_url)
        told = vouch.chat("/rember the milk", code=2)
        assert server.requests == []
    assert "There is no command /rember. Did you mean /remember?" in told
    assert turns(vouch) == []


def test_two_slashes_send_a_message_that_begins_with_one(vouch: Vouch) -> None:
    with ScriptedServer([says("Yes.")]) as server:
        vouch.use_server(server.base_url)
        vouch.chat("//etc is a folder")
        assert "/etc is a folder" in server.requests[0].last_message
    assert [turn.message for turn in turns(vouch)] == ["/etc is a folder"]


def test_what_is_forgotten_answers_no_more_and_no_undo_brings_it_back(vouch: Vouch) -> None:
    told = vouch.chat(
        "/remember My locker number is 214.",
        "What is my locker number?",
        "/forget 1 --yes",
        "What is my locker number?",
        "/undo",
        code=1,
    )
    before, _, after = told.partition("You: /forget 1 --yes")
    assert "214. You said" in before
    assert "Forgotten: “My locker number is 214.”.\n" in after
    assert "Also erased, since it was made from it: the answer of turn 1.\n" in after
    assert "Its bytes are gone" in after
    assert "Assistant: You said" not in after
    assert "214" not in after.partition("You: What")[2]
    assert "there is nothing to undo" in after


PASTE = "My locker number is 214. My dog is called Rex. My sister lives in Oslo. I work at the harbour."


def facts(vouch: Vouch) -> list[str]:
    told = vouch.run("memory", "list", "--limit", "20", "--json").objects
    return sorted(entry["text"] for entry in told)


def test_one_undo_takes_back_all_that_a_message_taught_and_a_number_takes_one(vouch: Vouch) -> None:
    told = vouch.chat("I like quiet rooms.", PASTE)
    numbers = re.findall(r"/undo (\d+) takes it back", told)
    assert len(numbers) == 5
    assert "Undone: added “My sister lives in Oslo." in vouch.chat(f"/undo {numbers[3]}")
    assert len(facts(vouch)) == 4
    said = vouch.run("chat", "--last", stdin="/undo\n").out.split("\n")
    assert said[1] == (
        "Took back 3 facts of one message: “My locker number is 214.”; “My dog is called Rex.”; "
        "“I work at the harbour.”."
    )
    assert [line for line in said if line.startswith("Your message stays")] == [said[2]]
    assert facts(vouch) == ["I like quiet rooms."]
    assert "Undone: added “I like quiet rooms." in vouch.run("chat", "--last", stdin="/undo\n").out
    again = vouch.run("chat", "--last", stdin="/undo\n/undo\n").out
    assert again.count("Your message stays") == 1
    assert "Nothing else to undo in this session." in again
    assert again.rstrip().endswith("Nothing left to undo in this session.")


def test_undo_in_a_new_session_leaves_what_another_one_taught(vouch: Vouch) -> None:
    vouch.chat("My locker number is 214.", "/remember I take my tea without milk.")
    before = facts(vouch)
    assert len(before) == 2
    told = vouch.chat("/undo", code=1)
    assert "there is nothing to undo of this session" in told
    assert "`vouch memory undo --list` shows all writes of yours" in told
    assert facts(vouch) == before
    told = vouch.chat("/remember The window sticks.", "/new", "/undo", code=1)
    assert "there is nothing to undo of this session" in told
    assert len(facts(vouch)) == 3


def test_the_way_past_a_later_write_is_told_as_it_is_typed_in_the_chat(vouch: Vouch) -> None:
    vouch.chat("/remember My locker number is 214.")
    vouch.run("memory", "edit", "1", "My locker number is 215.")
    told = vouch.chat("/undo 1", code=1)
    assert "Undo that first: /undo 2" in told
    assert "vouch memory undo 2" not in told


def test_undo_tells_what_stays_of_the_message_whose_learning_it_took_back_alone(vouch: Vouch) -> None:
    told = vouch.chat(
        "My locker number is 214.", "Who waters the plants?", "/teach Marta waters the plants.", "/undo"
    )
    assert "Undone: added “Marta waters the plants." in told
    assert "Your message stays" not in told
    told = vouch.run("chat", "--last", stdin="The window sticks!?\n/undo\n").out
    assert "Undone: added “My locker number is 214." in told
    assert "stays: “My locker number is 214." in told
    assert told.count("stays:") == 1


def test_undo_behind_an_ingest_takes_the_ingest_back(vouch: Vouch) -> None:
    path = vouch.write("handbook.md", HANDBOOK)
    vouch.chat("My locker number is 214.")
    assert "Undone: added “ingested " in vouch.chat(f"/ingest {path}", "/undo")
    assert facts(vouch) == ["My locker number is 214."]


def test_forgetting_by_words_lists_what_may_be_meant(vouch: Vouch) -> None:
    told = vouch.chat(
        "/remember My locker number is 214.", "/forget locker", "/forget bicycle", "/memory locker"
    )
    listed = told.partition("You: /forget locker\n")[2]
    assert listed.startswith("    1  note        My locker number is 214.\nSay which one: /forget 1")
    assert "You have nothing that says bicycle." in told
    assert told.partition("You: /memory")[2].count("214") == 1  # it is still there


def test_through_a_pipe_forgetting_needs_to_be_meant(vouch: Vouch) -> None:
    told = vouch.chat("/remember My locker number is 214.", "/forget 1", code=2)
    assert "nothing was forgotten\nTo mean it: /forget 1 --yes\n" in told
    assert "My locker number" in vouch.chat("/memory")
    assert "y" not in vouch.chat("/forget 1", "y", "/memory").partition("You: /memory")[0].split("\n")
    assert "Forgotten: “My locker number is 214.”." in vouch.chat("/forget 1 --yes")


def test_a_slip_forgets_no_shared_passage(vouch: Vouch) -> None:
    read_handbook(vouch)
    for line in ("/forget 1", "/forget 1 --yes"):
        told = vouch.chat(line, code=2)
        assert "passage 1 is shared with every user and stands in " in told
    assert "To mean it: /forget 1 --shared --yes" in vouch.chat("/forget 1 --shared", code=2)
    assert len(vouch.run("memory", "list", "--scope", "shared").cells) == 1
    assert "Forgotten: " in vouch.chat("/forget 1 --shared --yes")


@pytest.mark.slow
def test_at_a_terminal_forgetting_asks_first(vouch: Vouch) -> None:
    with vouch.terminal("chat", "--plain") as person:
        person.sees("You: ")
        person.types("/remember My locker number is 214.\r")
        person.sees("Remembered")
        for answer, outcome in (("n", "Nothing was forgotten."), ("y", "Forgotten: ")):
            person.types("/forget 1\r")
            person.sees("Forget this passage for good? This cannot be undone. [y/N]")
            person.sees("You: ")
            person.types(f"{answer}\r")
            person.sees(outcome)
            person.sees("You: ")
        person.types("\x04")
        assert person.exit_code() == 0


def test_why_tells_what_the_answer_was_made_from(vouch: Vouch) -> None:
    read_handbook(vouch)
    told = vouch.chat(QUESTION, "/why", "/why 1", "/why one", code=2).split("\n\n")
    assert re.fullmatch(
        rf"You: /why\nTurn 1: {re.escape(QUESTION)}\nAnswered by extractive \(quotes only\): done\n"
        r"  1 \[1\]  shared \d\.\d\d \(meaning \d\.\d\d, words \d\.\d\d\) \+0  House rules\n"
        r"         passage 1, version 1, \d\d \w+ \d{4} \d\d:\d\d",
        told[1],
    )
    assert told[2].partition("\n")[2] == told[1].partition("\n")[2]
    assert "Name the turn by its number" in told[3]


def test_the_last_answer_is_that_of_this_chat_whatever_is_said_in_another(vouch: Vouch) -> None:
    read_handbook(vouch)
    with vouch.start("chat") as here:
        here.stdin.write(f"{QUESTION}\n".encode())
        here.stdin.flush()
        read_until(here.stdout, "Source 1")
        vouch.chat("Another terminal says this.")
        out, _ = here.communicate(b"/good\n", timeout=ENDS_WITHIN_SECONDS)
    assert b"Noted for turn 1: good." in out


def test_what_is_taught_answers_the_next_time(vouch: Vouch) -> None:
    told = vouch.chat("Who waters the plants?", "/teach Marta waters the plants.", "Who waters the plants?")
    assert "Assistant: I found nothing about that." in told
    assert "Kept, yours, as 2: “Marta waters the plants.”. /undo takes it back." in told
    assert "Assistant: Marta. You said on TODAY: “Marta waters the plants.” [1]" in without_dates(told)


def test_bad_keeps_its_reason(vouch: Vouch) -> None:
    vouch.chat("Who waters the plants?", "/bad it should know")
    with vouch.database() as database, database.reading() as sql:
        kept = sql.connection().exec_driver_sql("SELECT rating, reason FROM feedback").one()
    assert tuple(kept) == ("bad", "it should know")


@pytest.mark.parametrize(
    ("command", "else_do"),
    [
        ("/good", "/good TURN rates another one."),
        ("/bad it should know", "/bad TURN rates another one."),
        ("/teach Marta waters the plants.", "`vouch feedback TURN --teach TEXT` corrects another one."),
        ("/why", "/why TURN explains another one."),
    ],
)
def test_what_is_said_of_the_last_answer_is_of_this_session(vouch: Vouch, command: str, else_do: str) -> None:
    vouch.chat("Who waters the plants?")  # a session of its own
    told = vouch.chat(command, code=1)
    assert f"this session has no answer yet\n{else_do}" in told
    with vouch.database() as database, database.reading() as sql:
        kept = sql.connection().exec_driver_sql("SELECT count(*) FROM feedback").scalar_one()
    assert kept == 0
    assert "Noted for turn 1: good." in vouch.chat("/good 1")


def test_of_a_private_session_nothing_is_remembered(vouch: Vouch) -> None:
    told = vouch.chat("/private", "My locker number is 214.", "/memory", "/new", "What is my locker number?")
    private = "This session is private: I learn nothing from it, and no other session finds it."
    assert f"{private}\nIts transcript is kept" in told
    assert f"Assistant: {private}" in told
    assert "Nothing is remembered about you yet." in told
    assert "Assistant: You said" not in told


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("/remember", 2),
        ("/forget", 0),
        ("/forget ²", 0),
        ("/forget " + "9" * 30, 0),
        ("/teach", 2),
        ("/ingest", 2),
    ],
)
def test_a_command_without_its_text_says_how_it_is_written(vouch: Vouch, command: str, code: int) -> None:
    name = command.split()[0]
    assert f"{name} " in vouch.chat(command, code=code).partition("\n")[2]


@pytest.mark.parametrize(
    ("command", "code", "told"),
    [
        ("/train stop", 1, "No round runs.\n"),
        ("/train start", 1, "No round was begun: there are 0 lessons, and a round wants 100.\n"),
        ("/train foo", 2, "There is no /train foo: start, stop, pause, continue or back.\n"),
    ],
)
def test_what_of_training_cannot_be_done_ends_a_pipe_as_a_command_that_failed(
    vouch: Vouch, command: str, code: int, told: str
) -> None:
    assert vouch.chat(command, code=code) == f"You: {command}\n{told}\n"


def test_ingesting_what_is_not_there_is_told_and_the_chat_goes_on(vouch: Vouch) -> None:
    told = vouch.chat("/ingest nowhere.md", "/memory")
    assert "nowhere.md" in told.partition("\n")[2]
    assert "Nothing is remembered about you yet." in told


def test_a_failed_turn_is_told_and_the_next_one_decides_the_exit_code(vouch: Vouch) -> None:
    with ScriptedServer([refuses(500, "out of order"), says("All is well.")]) as server:
        vouch.use_server(server.base_url)
        told = vouch.chat("Are you there?", "And now?")
    assert re.search(r"\nAssistant: \n\(failed: .*HTTP 500.*\)\n", told)
    assert "Assistant: All is well.\n" in told
    assert [turn.state for turn in turns(vouch)] == ["failed", "done"]


def test_when_the_last_turn_fails_so_does_a_chat_through_a_pipe(vouch: Vouch) -> None:
    with ScriptedServer([refuses(401, "who are you")]) as server:
        vouch.use_server(server.base_url)
        vouch.chat("Are you there?", code=2)


def test_past_the_time_limit_the_part_is_kept_and_the_chat_goes_on(vouch: Vouch) -> None:
    with ScriptedServer([hangs(["Well, "]), says("At ten.")]) as server:
        vouch.use_server(server.base_url)
        told = vouch.run("chat", "--timeout", "8", stdin=f"{QUESTION}\n{QUESTION}\n").out
    assert "Assistant: Well, \n(failed: no whole answer within 8 s)\n" in told
    assert told.endswith("Assistant: At ten.\n\n")
    assert [(turn.state, turn.answer) for turn in turns(vouch)] == [
        ("stopped", "Well, "),
        ("done", "At ten."),
    ]


# At a terminal ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_person_stops_a_slow_reply_and_leaves(vouch: Vouch) -> None:
    with ScriptedServer([hangs(["It opens at ", "ten"]), says("At ten.")]) as server:
        vouch.use_server(server.base_url)
        with vouch.terminal("chat", "--plain") as person:
            person.sees("Plain mode, because of --plain.")
            person.sees("scripted · 0 passages yours, 0 shared")
            person.sees("You: ")
            person.types(f"{QUESTION}\n")
            person.sees("Assistant: It opens at ten")
            person.interrupts_until("(stopped)")
            person.sees("You: ")
            person.interrupts_until("(Ctrl+D leaves)")
            person.types("Again?\n")
            person.sees("Assistant: At ten.")
            person.sees("You: ")
            person.types("\x04")
            assert person.exit_code() == 0
        assert server.wait_for_disconnects()  # stopping reached the server
    assert [(turn.state, turn.answer) for turn in turns(vouch)] == [
        ("stopped", "It opens at ten"),
        ("done", "At ten."),
    ]


@pytest.mark.slow
def test_a_closed_window_ends_the_chat_and_the_part_is_kept(vouch: Vouch) -> None:
    with ScriptedServer([hangs(["It opens at ten"])]) as server:
        vouch.use_server(server.base_url)
        with vouch.terminal("chat", "--plain") as person:
            person.sees("You: ")
            person.types(f"{QUESTION}\n")
            person.sees("It opens at ten")
            person.close()
            assert person.exit_code() == 129
    assert [(turn.state, turn.answer, turn.failure) for turn in turns(vouch)] == [
        ("stopped", "It opens at ten", "")
    ]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_told_to_end_during_a_reply_it_keeps_the_part(
    vouch: Vouch, number: signal.Signals, code: int
) -> None:
    with ScriptedServer([hangs(["It opens at ten"])]) as server:
        vouch.use_server(server.base_url)
        with vouch.start("chat") as process:
            process.stdin.write(f"{QUESTION}\n".encode())
            process.stdin.flush()
            read_until(process.stdout, "It opens at ten")
            assert tell_to_end(process, number) == code
    assert [(turn.state, turn.answer, turn.failure) for turn in turns(vouch)] == [
        ("stopped", "It opens at ten", "")
    ]


def test_what_was_told_to_a_chat_that_was_killed_is_learned_when_the_next_one_opens(vouch: Vouch) -> None:
    with ScriptedServer([hangs(["Noted"])]) as server:
        vouch.use_server(server.base_url)
        with vouch.start("chat") as process:
            process.stdin.write(b"My locker number is 214.\n")
            process.stdin.flush()
            read_until(process.stdout, "Noted")
            vouch.set("")
            assert "Learned" not in vouch.chat("/help")  # it is still being answered
            process.kill()
            process.wait()
    assert [turn.state for turn in turns(vouch)] == ["accepted"]
    assert "Learned, yours, as 2: “My locker number is 214.”." in vouch.chat("/help")


def test_interrupted_ask_ends_with_130_and_keeps_the_part(vouch: Vouch) -> None:
    with ScriptedServer([hangs(["It opens at ten"])]) as server:
        vouch.use_server(server.base_url)
        with vouch.start("ask", QUESTION) as process:
            process.stdin.close()
            read_until(process.stdout, "It opens at ten")
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=ENDS_WITHIN_SECONDS) == 130
            assert process.stderr.read() == b""
    assert [(turn.state, turn.answer, turn.failure) for turn in turns(vouch)] == [
        ("stopped", "It opens at ten", "")
    ]


def test_told_to_end_while_it_waits_for_a_line_it_just_ends(vouch: Vouch) -> None:
    with vouch.start("chat") as process:
        process.stdin.write(b"/memory\n")
        process.stdin.flush()
        read_until(process.stdout, "Nothing is remembered")
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=ENDS_WITHIN_SECONDS) == 143
        assert process.stderr.read() == b""
