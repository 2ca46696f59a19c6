"""Each command as a script meets it: what pipes get, which exit code says what, and whose memory it is.

Beyond what a test names, every run here also has to end in time, to put no control byte on standard
output and no traceback on standard error, and to raise no warning: `Vouch.run` sees to that.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from cli_helpers import ENDS_WITHIN_SECONDS, HANDBOOK, QUESTION, Ran, Vouch, read_until
from click.testing import CliRunner
from scripted_server import ScriptedServer, cuts, hangs, refuses, says, unused_url

from assistant.cli import cli
from stores.conversation.journal import Journal
from stores.memory.edits import Knowledge


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, minilm_folder: Path) -> Vouch:
    """A store in which the handbook is shared; tests work on copies of it."""
    made = Vouch(tmp_path_factory.mktemp("library"), minilm_folder.parent)
    made.run("--user", "librarian", "ingest", "--shared", made.write("handbook.md", HANDBOOK))
    return made


@pytest.fixture
def vouch(library: Vouch, tmp_path: Path) -> Vouch:
    return library.copy_to(tmp_path)


def remember(vouch: Vouch, *notes: str, user: str = "ann") -> list[int]:
    """Keeps notes of a user, as /remember does, and returns their passage ids."""
    with vouch.database() as database:
        user_id = Journal(database).user_id(user)
        return [Knowledge(database).remember(user_id, note)[0] for note in notes]


def texts(ran: Ran) -> list[str]:
    return [entry["text"] for entry in ran.objects]


# Wrong usage ------------------------------------------------------------------------------------


def test_a_mistyped_command_is_an_error_that_names_the_nearest(vouch: Vouch) -> None:
    ran = vouch.run("serach", "opening hours", code=2)
    assert ran.out == ""
    assert ran.err == "vouch: there is no command 'serach'\nDid you mean `vouch search`?\n"


def test_help_is_shown_to_who_asks_for_it_as_a_command() -> None:
    def shown(*words: str) -> str:
        return CliRunner().invoke(cli, words, prog_name="vouch").output

    assert shown("help") == shown("help", "help") == shown("help", "--json") == shown("--help")
    assert "Usage: vouch" in shown("help")
    assert shown("help", "memory", "list") == shown("memory", "list", "--help")
    assert "Usage: vouch memory list" in shown("help", "memory", "list")


def test_a_mistyped_subcommand_of_memory_names_the_nearest(vouch: Vouch) -> None:
    assert "'list'" in vouch.run("memory", "lst", code=2).err


def test_memory_alone_asks_for_its_subcommand(vouch: Vouch) -> None:
    ran = vouch.run("memory", code=2)
    assert ran.out == ""
    assert ran.err == "vouch: Missing command.\n`vouch memory --help` shows how it is used.\n"


def test_without_a_terminal_the_name_alone_says_which_command_to_use(vouch: Vouch) -> None:
    ran = vouch.run(code=2)
    assert ran.out == ""
    assert "vouch ask" in ran.err
    assert "vouch chat" in ran.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["ask", "--sauces", "hello"], "--sources"),
        (["--ofline", "ask", "hello"], "--offline"),
        (["search"], "QUERY"),
        (["ask"], "no question"),
        (["ask", "--timeout", "0", "hello"], "--timeout"),
        (["ask", "--last", "--new", "hello"], "exclude one another"),
        (["ask", "--no-learn", "--last", "hello"], "session of its own"),
        (["ask", "--code", "--json", "hello"], "exclude one another"),
        (["ingest"], "nothing to read"),
        (["ingest", "-"], "needs a name"),
        (["feedback", "1"], "--good, --bad and --teach"),
        (["feedback", "1", "--good", "--why", "so"], "--why"),
        (["memory", "forget"], "no passage is named"),
        (["memory", "forget", "twelve"], "'twelve' is no passage id"),
        (["memory", "forget", "9" * 30], "is no passage id"),
        (["memory", "forget", "--all-mine"], "--yes"),
        (["memory", "show", "9" * 30], "is no number"),
        (["memory", "list", "--since", "0001-01-01"], "beyond the calendar"),
        (["memory", "import", "nowhere.jsonl"], "cannot be read"),
        (["--user", "a/b", "memory", "list"], "--user"),
        (["--user", "", "memory", "list"], "--user"),
        (["--settings", "nowhere.toml", "memory", "list"], "nowhere.toml"),
    ],
)
def test_wrong_usage_ends_with_2_and_says_what_is_wrong(
    vouch: Vouch, arguments: list[str], told: str
) -> None:
    ran = vouch.run(*arguments, code=2)
    assert ran.out == ""
    assert told in ran.err
    assert "defect" not in ran.err


def test_a_wrong_settings_file_is_told_with_line_and_nearest_key(vouch: Vouch) -> None:
    vouch.set("[answer]\nthreshold = 0.4\npasages = 3\n\n[retrieval]\npool = 0\n")
    ran = vouch.run("memory", "list", code=2)
    assert "settings.toml line 3: answer.pasages is not a setting; did you mean answer.passages?" in ran.err
    assert "settings.toml line 6: retrieval.pool is 0, but must be 1 or more" in ran.err


@pytest.mark.parametrize("place", ["before", "behind"])
def test_with_json_an_error_is_one_json_object_on_standard_error(vouch: Vouch, place: str) -> None:
    arguments = (
        ["--json", "memory", "show", "999"] if place == "before" else ["memory", "show", "999", "--json"]
    )
    ran = vouch.run(*arguments, code=1)
    assert ran.out == ""
    assert "no passage 999" in ran.complaint["error"]
    assert "memory list" in ran.complaint["hint"]


def test_with_json_wrong_usage_is_a_json_object_too(vouch: Vouch) -> None:
    assert "--nonsense" in vouch.run("ask", "--nonsense", "--json", code=2).complaint["error"]


# Ends -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments", [["memory", "list", "--scope", "shared"], ["search", "hours"], ["--help"]]
)
def test_when_the_reader_goes_away_the_command_ends_with_141_and_silently(
    vouch: Vouch, arguments: list[str]
) -> None:
    reader, writer = os.pipe()
    os.close(reader)  # as `| head -0`, which has ended already
    with vouch.start(*arguments, stdout=writer, stdin=subprocess.DEVNULL) as process:
        os.close(writer)
        _, err = process.communicate(timeout=ENDS_WITHIN_SECONDS)
    assert (process.returncode, err) == (141, b"")


def test_when_the_reader_of_an_answer_goes_away_its_part_is_kept(vouch: Vouch) -> None:
    with ScriptedServer([says("Ten ", "o'clock.", " Or so.", pause_seconds=0.3)]) as server:
        vouch.use_server(server.base_url)
        with vouch.start("ask", QUESTION) as process:
            process.stdin.close()
            read_until(process.stdout, "Ten ")
            process.stdout.close()
            assert process.wait(timeout=ENDS_WITHIN_SECONDS) == 141
            assert process.stderr.read() == b""
    with vouch.database() as database, database.reading() as sql:
        state, answer = sql.connection().exec_driver_sql("SELECT state, answer FROM turns").one()
    assert state == "stopped"
    assert answer.startswith("Ten ")


def test_a_defect_of_ours_ends_with_70_and_names_its_report(vouch: Vouch) -> None:
    broken = (
        "import sys, assistant.wiring.assistant as wiring\n"
        "def fail(self): raise ZeroDivisionError('a defect')\n"
        "wiring.Assistant.catch_up = fail\n"
        "from assistant.cli import main\n"
        "main(sys.argv[1:])\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", broken, "search", "hours"],
        env=vouch.environment,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 70
    assert ran.stdout == ""
    report = re.search(r"The report is in (.+)\.\n", ran.stderr)
    assert report is not None, ran.stderr
    assert "ZeroDivisionError" in Path(report[1]).read_text()
    assert "Traceback" not in ran.stderr


def test_a_store_that_cannot_be_opened_ends_with_3(vouch: Vouch) -> None:
    (vouch.folder / "elsewhere" / "vouch.db").mkdir(parents=True)
    ran = vouch.run("--data", str(vouch.folder / "elsewhere"), "--json", "memory", "list", code=3)
    assert "cannot be opened" in ran.complaint["error"]


def test_closed_standard_streams_are_no_defect(vouch: Vouch) -> None:
    shell = 'exec "$@" <&- >&-'
    command = ["sh", "-c", shell, "sh", str(Path(sys.executable).with_name("vouch")), "memory", "list"]
    ran = subprocess.run(command, env=vouch.environment, stderr=subprocess.PIPE, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")  # nothing is remembered of ann yet


def test_bytes_that_are_no_text_cost_a_character_and_not_the_command(vouch: Vouch) -> None:
    ran = vouch.run("chat", stdin=b"My code is \xff 7.\n")
    assert ran.out.startswith("You: My code is \N{REPLACEMENT CHARACTER} 7.\n")
    vouch.run("ask", os.fsdecode(b"My word is \xff."))
    assert texts(vouch.run("memory", "list", "--kind", "message", "--json"))[0].startswith("My word is ")


def test_json_is_utf_8_whatever_the_locale_says(vouch: Vouch) -> None:
    remember(vouch, "Café “Löwe” serves 茶.")
    ran = vouch.run("memory", "list", "--json", environment={"PYTHONIOENCODING": "ascii", "LANG": "C"})
    assert texts(ran) == ["Café “Löwe” serves 茶."]


# Ask --------------------------------------------------------------------------------------------


def test_ask_prints_the_code_of_an_answer_alone(vouch: Vouch) -> None:
    with ScriptedServer([says("Here:\n```py\n\tx\x1b = 1\n```\n")], then=says("There is none.")) as server:
        vouch.use_server(server.base_url)
        assert vouch.run("ask", "--code", "--no-learn", QUESTION).out == "\tx = 1\n"
        without = vouch.run("ask", "--code", "--no-learn", QUESTION, code=1)
    assert (without.out, "no block of code" in without.err) == ("", True)


def test_ask_prints_the_answer_and_with_sources_where_it_stands(vouch: Vouch) -> None:
    plain, with_sources = vouch.run("ask", QUESTION), vouch.run("ask", QUESTION, "--sources")
    assert plain.out == "10:00. “The reading room opens at 10:00 on Saturdays.” [1]\n"
    assert with_sources.out == plain.out + "Source 1, shared: House rules\n"
    assert plain.err == with_sources.err == ""


def test_ask_as_json_tells_all_of_the_turn(vouch: Vouch) -> None:
    told = vouch.run("ask", "--json", QUESTION).object
    assert told["question"] == QUESTION
    assert told["state"] == "done"
    assert told["answer"].endswith("[1]")
    first = told["sources"][0]
    assert (first["number"], first["cited"], first["scope"], first["version"]) == (1, True, "shared", 1)
    assert first["version_at"].endswith("+00:00")
    assert "10:00" in first["text"]
    assert told["invented_citations"] == []
    assert told["turn"] == 1
    assert told["seconds"] >= 0


def test_ask_reads_piped_material_as_something_to_answer_from(vouch: Vouch) -> None:
    ran = vouch.run(
        "ask",
        "What colour is the garden gate?",
        "--sources",
        stdin="The garden gate is painted dark green.\n",
    )
    assert "dark green” [1]" in ran.out.replace(".”", "”")
    assert "Source 1, handed over: The garden gate" in ran.out
    assert vouch.run("memory", "list", "--query", "garden", "--json").objects[0]["text"].startswith("What")


def test_ask_with_a_dash_takes_the_question_itself_from_standard_input(vouch: Vouch) -> None:
    assert "10:00" in vouch.run("ask", "-", stdin=f"{QUESTION}\n").out


def test_ask_waits_for_no_input_that_nobody_pipes(vouch: Vouch) -> None:
    ours, theirs = socket.socketpair()  # silent and open, as what a service inherits
    with ours, theirs, vouch.start("ask", QUESTION, stdin=theirs) as process:
        out, _ = process.communicate(timeout=ENDS_WITHIN_SECONDS)
    assert b"10:00" in out


def test_ask_goes_on_with_the_last_session(vouch: Vouch) -> None:
    first = vouch.run("ask", "--json", QUESTION).object
    other = vouch.run("ask", "--json", QUESTION).object
    last = vouch.run("ask", "--json", "--last", QUESTION).object
    named = vouch.run("ask", "--json", "--session", str(first["session"]), QUESTION).object
    assert other["session"] != first["session"]
    assert last["session"] == other["session"]
    assert named["session"] == first["session"]


def test_ask_without_learning_remembers_nothing(vouch: Vouch) -> None:
    ran = vouch.run("ask", "--no-learn", "My locker number is 214.")
    assert "I learn nothing" in ran.out
    assert vouch.run("memory", "list", "--kind", "all", code=1).out == ""
    assert "214" not in vouch.run("ask", "What is my locker number?", code=1).out


def test_an_answer_from_a_server_has_its_citations_checked(vouch: Vouch) -> None:
    with ScriptedServer(then=says("It opens at ten [", "1], or so [9].")) as server:
        vouch.use_server(server.base_url)
        ran = vouch.run("ask", QUESTION, "--sources")
        told = vouch.run("ask", QUESTION, "--json").object
    assert ran.out == "It opens at ten [1], or so [9].\nSource 1, shared: House rules\n"
    assert told["answer"] == "It opens at ten [1], or so [9]."
    assert told["invented_citations"] == [9]
    assert told["model"] == "scripted"
    assert [source["number"] for source in told["sources"] if source["cited"]] == [1]


def test_a_reply_cut_at_its_longest_length_is_told_as_cut(vouch: Vouch) -> None:
    with ScriptedServer(then=says("It opens at ten and", finish="length")) as server:
        vouch.use_server(server.base_url)
        ran = vouch.run("ask", QUESTION)
        told = vouch.run("ask", QUESTION, "--json").object
        transcript = vouch.chat(QUESTION)
    assert ran.out == "It opens at ten and\n"
    assert "(The reply was cut at the model's longest length; model.max_tokens" in ran.err
    assert "\n(The reply was cut at the model's longest length; model.max_tokens" in transcript
    assert told["is_cut"] is True
    assert told["left_out"] == []


def test_what_did_not_fit_is_told_to_a_script(vouch: Vouch) -> None:
    with ScriptedServer(then=says("At ten.")) as server:
        vouch.use_server(server.base_url, "max_tokens = 10\ncontext_tokens = 440\n")
        vouch.chat("/remember The reading room opens at ten. " + "It is warm there. " * 40)
        told = vouch.run("ask", QUESTION, "--json").object
    assert {entry["kind"] for entry in told["left_out"]} == {"passage"}
    assert told["is_cut"] is False


def test_control_bytes_of_a_model_and_a_user_reach_no_pipe(vouch: Vouch) -> None:
    with ScriptedServer(then=says("Ten\x1b[31m o'clock\x07.")) as server:
        vouch.use_server(server.base_url)
        transcript = vouch.chat("\x1b[31mWhen?\x07", "/sessions", "/memory", "/why")
    assert "Assistant: Ten[31m o'clock." in transcript
    assert "You: [31mWhen?" in transcript


@pytest.mark.parametrize(
    ("status", "headers", "code", "retry_after"),
    [(401, {}, 2, None), (429, {"Retry-After": "20"}, 3, 20.0), (500, {}, 3, None), (404, {}, 2, None)],
)
def test_what_a_server_refuses_with_decides_the_exit_code(
    vouch: Vouch, status: int, headers: dict[str, str], code: int, retry_after: float | None
) -> None:
    with ScriptedServer(then=refuses(status, "no", headers=headers)) as server:
        vouch.use_server(server.base_url)
        ran = vouch.run("ask", "--json", QUESTION, code=code, environment={"VOUCH_API_KEY": "a-secret-key"})
    assert ran.complaint.get("retry_after_seconds") == retry_after
    assert ran.object["state"] == "failed"
    assert ran.object["answer"] == ""
    assert "a-secret-key" not in ran.out + ran.err


def test_a_server_that_is_not_there_is_told_and_what_was_found_is_quoted(vouch: Vouch) -> None:
    vouch.use_server(unused_url())
    ran = vouch.run("ask", QUESTION)
    assert "opens at 10:00" in ran.out
    assert "No connection to the model's server" in ran.err
    assert "quoted instead" in ran.err
    told = vouch.run("ask", "--json", QUESTION).object
    assert (told["state"], told["model"].split()[0]) == ("done", "extractive")
    assert told["unreachable"].startswith("No connection")
    assert "In place of" in vouch.run("why").out


def test_a_reply_that_breaks_off_ends_with_3_and_its_part_is_kept_as_failed(vouch: Vouch) -> None:
    with ScriptedServer([cuts(["It opens at ten"])]) as server:
        vouch.use_server(server.base_url)
        ran = vouch.run("ask", "--json", QUESTION, code=3)
    assert (ran.object["state"], ran.object["answer"]) == ("failed", "It opens at ten")
    assert "broke off" in ran.complaint["error"]
    with vouch.database() as database, database.reading() as sql:
        kept = sql.connection().exec_driver_sql("SELECT state, answer, failure FROM turns").one()
    assert tuple(kept[:2]) == ("failed", "It opens at ten")
    assert "broke off" in kept[2]


def test_past_the_time_limit_it_ends_with_4_and_the_part_is_kept_as_stopped(vouch: Vouch) -> None:
    with ScriptedServer([hangs(["It opens"])]) as server:
        vouch.use_server(server.base_url)
        ran = vouch.run("ask", "--timeout", "8", QUESTION, code=4)
        assert server.wait_for_disconnects()
    assert ran.out == "It opens"
    assert "within 8 s" in ran.err
    with vouch.database() as database, database.reading() as sql:
        kept = sql.connection().exec_driver_sql("SELECT state, answer FROM turns").one()
    assert tuple(kept) == ("stopped", "It opens")


# Ingest -----------------------------------------------------------------------------------------


def test_bad_files_of_a_folder_cost_a_line_each_and_the_others_are_stored(vouch: Vouch) -> None:
    vouch.write("papers/good.md", "# Garden\n\nThe garden gate is painted green.\n")
    vouch.write("papers/also good.txt", "The shed is locked at night.\n")
    vouch.write("papers/torn.pdf", b"%PDF-1.7\nno pages here")
    vouch.write("papers/fake.docx", b"PK\x03\x04 no archive")
    vouch.write("papers/empty.txt", b"")
    ran = vouch.run("ingest", "papers", code=1)
    assert sorted((cells[2], Path(cells[3]).name) for cells in ran.cells) == [
        ("new", "also good.txt"),
        ("new", "good.md"),
    ]
    complaints = [line for line in ran.err.splitlines() if line.startswith("vouch: ")]
    assert sorted(Path(line.partition(": ")[2].partition(": ")[0]).name for line in complaints) == [
        "empty.txt",
        "fake.docx",
        "torn.pdf",
    ]
    assert "2 new, 0 replaced, 0 the same, 3 not readable" in ran.err
    assert len(vouch.run("memory", "list", "--kind", "document", "--json").objects) == 2


def test_with_json_a_bad_file_is_a_json_object_on_standard_error(vouch: Vouch) -> None:
    ran = vouch.run("ingest", "--json", "-q", "nowhere.txt", vouch.write("good.txt", "All is well."), code=1)
    assert [entry["change"] for entry in ran.objects] == ["new"]
    assert ran.complaint["source"].endswith("nowhere.txt")


def test_the_same_content_is_the_same_document_and_a_change_replaces_it(vouch: Vouch) -> None:
    path = vouch.write("notes.md", "The gate is green.\n")

    def ingest() -> str:
        return str(vouch.run("ingest", "--json", path).object["change"])

    assert ingest() == "new"
    assert ingest() == "same"
    vouch.write("notes.md", "The gate is blue.\n")
    assert ingest() == "replaced"
    assert texts(vouch.run("memory", "list", "--kind", "document", "--json")) == ["The gate is blue."]


def test_text_from_standard_input_is_a_document_of_the_name_given(vouch: Vouch) -> None:
    first = vouch.run("ingest", "-", "--name", "rules", "--json", stdin="No dogs in the garden.\n").object
    assert (first["source"], first["change"], first["passages"]) == ("rules", "new", 1)
    again = vouch.run("ingest", "-", "--name", "rules", stdin="Dogs in the garden on a lead.\n")
    assert again.cells[0][1:] == ["1 passage", "replaced", "rules"]


def shown_at_terminal(vouch: Vouch, *arguments: str) -> str:
    with vouch.terminal(*arguments) as person:
        person.exit_code()
        return person.screen.replace("\r\n", "\n")


@pytest.mark.slow
def test_a_terminal_is_told_of_the_records_of_a_collection_in_one_line(vouch: Vouch) -> None:
    lines = [json.dumps({"id": number, "text": f"Gate {number} is green."}) + "\n" for number in range(3)]
    path = vouch.write("papers/gates #1.jsonl", "".join(lines))
    notes = vouch.write("papers/notes.md", "The shed is locked.\n")
    shown = shown_at_terminal(vouch, "ingest", "--dry-run", "papers")
    assert f"{path}\t3 passages\t3 would be read\n{notes}\t1 passage\twould be read" in shown
    shown = shown_at_terminal(vouch, "ingest", "papers")
    assert f"3 records\t3 passages\t3 new\t{path}" in shown
    assert f"\t1 passage\tnew\t{notes}" in shown
    assert "4 new, 0 replaced, 0 the same" in shown
    vouch.write(
        "papers/gates #1.jsonl", "".join([*lines[:2], '{"id": 2, "text": "Gate 2 is blue."}', "\n{}"])
    )
    changed = f"3 records\t3 passages\t2 same, 1 replaced\t{path}"
    assert changed in shown_at_terminal(vouch, "ingest", path)
    sources = [f"{path}#{number}" for number in range(3)]
    shown = shown_at_terminal(vouch, "ingest", "-v", path)
    assert [source for source in sources if f"\tsame\t{source}" in shown] == sources
    assert [cells[2:] for cells in vouch.run("ingest", path, code=1).cells] == [
        ["same", source] for source in sources
    ]
    assert [told["source"] for told in vouch.run("ingest", "--json", path, code=1).objects] == sources
    assert vouch.run("ingest", "-q", path, code=1).out == ""


def test_a_dry_run_says_what_would_be_read_and_stores_nothing(vouch: Vouch, tmp_path: Path) -> None:
    path = vouch.write("notes.md", "The gate is green.\n")
    elsewhere = tmp_path / "untouched"
    ran = vouch.run("--data", str(elsewhere), "ingest", "--dry-run", path)
    assert ran.cells == [[path, "1 passage", "would be read"]]
    assert vouch.run("ingest", "--dry-run", path, "--json").object["passages"] == 1
    assert not elsewhere.exists()


# Search, doctor ---------------------------------------------------------------------------------


def test_search_as_json_has_the_score_of_every_signal(vouch: Vouch) -> None:
    remember(vouch, "I take my tea without milk.", "My cat is called Minka.")
    found = vouch.run("search", "--json", "reading room hours").objects[0]
    assert found["rank"] == 1
    assert found["scope"] == "shared"
    assert 0 < found["dense"] <= 1
    assert found["lexical"] > 0
    assert found["lift"] == 0
    assert found["score"] > 0
    assert found["text"].startswith("The reading room")


def test_search_in_words_shows_the_same(vouch: Vouch) -> None:
    lines = vouch.run("search", "reading", "room").out.splitlines()
    assert re.fullmatch(
        r"1\. \d\.\d{3}  meaning \d\.\d{3}  words \d\.\d\d  lift \+0\.00  shared 1  House rules",
        lines[0],
    )


def test_search_in_an_empty_store_finds_nothing_and_ends_with_1(vouch: Vouch, tmp_path: Path) -> None:
    assert vouch.run("--data", str(tmp_path / "new"), "search", "hours", code=1).out == ""


def test_doctor_warns_of_a_directory_that_is_open_to_others_and_ends_well(vouch: Vouch) -> None:
    vouch.data.chmod(0o755)
    told = vouch.run("doctor", "--no-repair").out
    assert f"warning  data directory   {vouch.data} is open to others (mode 755)\n" in told
    assert f"To close it, run: chmod 700 {vouch.data}\n" in told


def test_doctor_tells_a_line_a_check(vouch: Vouch) -> None:
    told = vouch.run("doctor", "--json").objects
    assert {line["state"] for line in told if "check" in line} == {"ok"}


def test_the_overview_calls_a_session_a_session(vouch: Vouch) -> None:
    told = vouch.run("--help").out
    assert "List your sessions." in told
    assert "Write a session out, as Markdown or JSON." in told


# Memory -----------------------------------------------------------------------------------------


def test_memory_list_is_newest_first_and_separated_by_tabs(vouch: Vouch) -> None:
    tea, cat = remember(vouch, "I take my tea without milk.", "My cat is called Minka.")
    assert vouch.run("memory", "list").cells == [
        [str(cat), "note", "yours", "My cat is called Minka."],
        [str(tea), "note", "yours", "I take my tea without milk."],
    ]
    assert texts(vouch.run("memory", "list", "--query", "TEA", "--json")) == ["I take my tea without milk."]
    assert len(vouch.run("memory", "list", "--limit", "1").cells) == 1
    assert vouch.run("memory", "list", "--scope", "all").cells[-1][2] == "shared"
    assert vouch.run("memory", "list", "--kind", "correction", code=1).out == ""
    assert vouch.run("memory", "list", "--since", "2100-01-01", code=1).out == ""


def test_memory_list_leaves_out_what_was_said_and_read_unless_it_is_asked_for(vouch: Vouch) -> None:
    (tea,) = remember(vouch, "I take my tea without milk.")
    vouch.run("ingest", vouch.write("notes.md", "The gate is blue.\n"))
    with vouch.database() as database:
        journal = Journal(database)
        ann = journal.user_id("ann")
        journal.accept(ann, journal.open_session(ann), "Is the tea blue?", parts=["Is the tea blue?"])
    assert vouch.run("memory", "list").cells == [[str(tea), "note", "yours", "I take my tea without milk."]]
    for arguments, kinds in (
        (("--kind", "message"), ["message"]),
        (("--kind", "all"), ["message", "document", "note"]),
        (("--query", "blue"), ["message", "document"]),
        (("--scope", "shared"), ["document"]),
        (("--scope", "all"), ["note", "document"]),
    ):
        listed = vouch.run("memory", "list", *arguments, "--json").objects
        assert [line["kind"] for line in listed] == kinds, arguments
    exported = [json.loads(line) for line in vouch.run("memory", "export").out.split("\n") if line]
    assert {told.get("kind") for told in exported} >= {"message", "document", "note"}


def test_an_empty_memory_is_no_fault_and_is_told_to_who_looks(vouch: Vouch) -> None:
    ran = vouch.run("memory", "list")
    assert (ran.out, ran.err) == ("", "")
    for narrowed in (("--query", "locker"), ("--kind", "note"), ("--since", "2026-01-01")):
        assert vouch.run("memory", "list", *narrowed, code=1).out == ""
    with vouch.terminal("memory", "list") as person:
        person.sees("Nothing is remembered yet.")
        assert person.exit_code() == 0
    with vouch.terminal("memory", "list", "--query", "locker") as person:
        person.sees("Nothing that is remembered fits.")
        assert person.exit_code() == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("ask", "--no-learn", QUESTION),
        ("ask", "--no-learn", "--json", QUESTION),
        ("search", "reading room"),
        ("memory", "list", "--scope", "shared"),
        ("memory", "export", "--scope", "shared"),
        ("doctor", "--no-repair"),
        ("chat",),
    ],
)
def test_output_that_cannot_be_written_is_an_error_in_one_sentence(
    vouch: Vouch, arguments: tuple[str, ...]
) -> None:
    with Path("/dev/full").open("wb") as full, vouch.start(*arguments, stdout=full) as process:
        _, told = process.communicate(b"/help\n", timeout=ENDS_WITHIN_SECONDS)
    assert process.returncode == 3
    said = "the output cannot be written: No space left on device"
    assert said in told.decode()
    assert "defect" not in told.decode()
    if "--json" in arguments:
        assert json.loads(told)["error"] == said


def test_remarks_that_cannot_be_written_are_left_out(vouch: Vouch) -> None:
    with Path("/dev/full").open("wb") as full, vouch.start("memory", "lst", stderr=full) as process:
        out, _ = process.communicate(timeout=ENDS_WITHIN_SECONDS)
    assert (process.returncode, out) == (2, b"")


def test_memory_show_tells_where_a_passage_comes_from(vouch: Vouch) -> None:
    (tea,) = remember(vouch, "I take my tea without milk.")
    told = vouch.run("memory", "show", str(tea), "--json").object
    assert told["text"] == "I take my tea without milk."
    assert not told["forgotten"]
    assert [version["number"] for version in told["versions"]] == [1]
    assert [receipt["action"] for receipt in told["receipts"]] == ["add"]
    assert vouch.run("memory", "show", str(tea)).out.startswith(f"{tea}  note · yours\nI take my tea")


def test_what_is_forgotten_is_in_no_answer_and_in_no_file_of_the_data_directory(vouch: Vouch) -> None:
    (locker,) = remember(vouch, "My locker number is 21429.")
    assert "21429" in vouch.run("ask", "What is my locker number?").out
    asked = vouch.run("memory", "list", "--query", "What locker", "--json").object["passage"]
    forgotten = vouch.run("memory", "forget", str(locker), "--yes")
    assert forgotten.cells == [[str(locker), "forgotten", "My locker number is 21429."]]
    assert "since it was made from it: the answer of turn 1." in forgotten.err
    assert "Its bytes are gone" in forgotten.err
    assert "Out of reach: backups" in forgotten.err
    assert "21429" not in vouch.run("ask", "--no-learn", "What is my locker number?", code=1).out
    vouch.run("search", "locker 21429", "--json", code=0)
    assert "nothing to undo" in vouch.run("memory", "undo", code=1).err
    assert vouch.run("memory", "show", str(locker), "--json").object["text"] == ""
    assert texts(vouch.run("memory", "list", "--kind", "all", "--json")) == ["What is my locker number?"]
    assert "forgotten before" in vouch.run("memory", "forget", str(locker), code=1).err
    vouch.run("memory", "forget", str(asked), "--yes")
    for file in vouch.data.rglob("*"):
        assert not file.is_file() or b"21429" not in file.read_bytes(), file


def test_forgetting_at_a_terminal_asks_once(vouch: Vouch) -> None:
    first, second = remember(vouch, "One.", "Two.")
    question = "Forget these 2 passages for good? This cannot be undone. [y/N]"
    with vouch.terminal("memory", "forget", str(first), str(second)) as person:
        person.sees(f"{first}  note        One.")  # what would go is named
        person.sees(question)
        person.types("n\r")
        assert person.exit_code() != 0
    assert len(vouch.run("memory", "list").cells) == 2
    with vouch.terminal("memory", "forget", str(first), "--yes") as person:
        assert person.exit_code() == 0
        assert "[y/N]" not in person.screen
    with vouch.terminal("memory", "forget", str(second)) as person:
        person.sees("Forget this passage for good?")
        person.types("y\r")
        person.sees("forgotten")
        assert person.exit_code() == 0
    assert vouch.run("memory", "list").out == ""


@pytest.mark.parametrize("stdin", [b"", b"n\n", b"y\n"])
@pytest.mark.parametrize("option", [(), ("--no-input",)])
def test_where_nobody_can_be_asked_forgetting_needs_to_be_meant(
    vouch: Vouch, stdin: bytes, option: tuple[str, ...]
) -> None:
    (kept,) = remember(vouch, "One.")
    ran = vouch.run("memory", "forget", str(kept), *option, stdin=stdin, code=2)
    assert ran.out == ""
    assert ran.err == (
        "vouch: forgetting is final and needs a confirmation, which cannot be asked for here; "
        "nothing was forgotten\n"
        f"To mean it: vouch memory forget {kept} --yes\n"
    )
    assert texts(vouch.run("memory", "list", "--json")) == ["One."]


def test_a_shared_passage_is_forgotten_only_where_every_user_is_meant(vouch: Vouch) -> None:
    handbook = str(vouch.run("memory", "list", "--scope", "shared", "--json").object["passage"])
    ran = vouch.run("memory", "forget", handbook, "--yes", code=2)
    assert "Only who added it can take it back or forget it." in ran.err
    vouch.run("memory", "forget", handbook, "--shared", "--yes", code=1)
    vouch.environment["VOUCH_USER"] = "librarian"
    for arguments in ((), ("--yes",)):
        ran = vouch.run("memory", "forget", handbook, *arguments, code=2)
        assert f"passage {handbook} is shared with every user and stands in " in ran.err
        assert "`vouch memory undo 1` takes back the write that brought it" in ran.err
    with vouch.terminal("memory", "forget", handbook) as person:
        person.sees("is shared with every user")
        assert person.exit_code() == 2
    ran = vouch.run("memory", "forget", handbook, "--shared", code=2)
    assert f"vouch memory forget {handbook} --shared --yes" in ran.err
    with vouch.terminal("memory", "forget", handbook, "--shared") as person:
        person.sees("shared with every user: ")
        person.sees("Forget this passage for good, for every user? This cannot be undone.")
        person.types("n\r")
        assert person.exit_code() != 0
    assert len(vouch.run("memory", "list", "--scope", "shared").cells) == 1
    vouch.run("memory", "forget", handbook, "--shared", "--yes")
    assert vouch.run("memory", "list", "--scope", "shared").out == ""


def test_forgetting_names_the_log_and_old_databases_where_they_may_hold_it(vouch: Vouch) -> None:
    first, second = remember(vouch, "One.", "Two.")
    told = vouch.run("memory", "forget", str(first), "--yes").err
    assert "log.log_text" not in told
    assert "before a restore" not in told
    vouch.set("[log]\nlog_text = true\n")
    kept = vouch.data / "vouch-before-restore-20260101T000000Z.db"
    kept.write_bytes(b"")
    told = vouch.run("memory", "forget", str(second), "--yes").err
    assert "log.log_text has it keep texts" in told
    assert f"A database from before a restore may hold it: {kept}" in told


def test_forgetting_everything_reaches_what_left_no_passage(vouch: Vouch) -> None:
    remember(vouch, "One.")
    vouch.chat("/private", "My secret is xylograph.")
    vouch.run("--user", "bob", "memory", "import", "-", stdin='{"text": "bob has a xylophone"}\n')
    told = vouch.run("memory", "forget", "--all-mine", "--yes", "--json").object
    assert [line["text"] for line in told["forgotten"]] == ["One."]
    assert len(told["blank_turns"]) == 1
    content = b"".join(file.read_bytes() for file in vouch.data.rglob("*") if file.is_file())
    assert b"xylograph" not in content
    assert b"xylophone" in content


def test_undo_takes_back_the_receipt_that_is_named_and_each_only_once(vouch: Vouch) -> None:
    remember(vouch, "First.", "Second.")
    first = vouch.run("memory", "undo", "--list", "--json").objects[-1]
    assert first["summary"] == "First."
    vouch.run("memory", "undo", str(first["receipt"]))
    assert texts(vouch.run("memory", "list", "--json")) == ["Second."]
    assert "undone already" in vouch.run("memory", "undo", str(first["receipt"]), code=1).err
    vouch.run("memory", "undo")
    assert len(vouch.run("memory", "list", "--scope", "all").cells) == 1  # the shared handbook stays
    assert "nothing to undo" in vouch.run("--user", "bob", "memory", "undo", code=1).err


def test_forget_reads_ids_from_standard_input_and_can_forget_all_of_ones_own(vouch: Vouch) -> None:
    first, second, _ = remember(vouch, "One.", "Two.", "Three.")
    told = vouch.run("memory", "forget", "-", "--yes", "--json", stdin=f"{first}\n{second}\n").object
    assert [line["text"] for line in told["forgotten"]] == ["One.", "Two."]
    assert (told["blank_turns"], told["still_in"]) == ([], [])
    vouch.run("memory", "forget", "--all-mine", "--yes")
    assert vouch.run("memory", "list").out == ""
    assert len(vouch.run("memory", "list", "--scope", "shared").cells) == 1


def test_forgetting_several_is_all_or_nothing(vouch: Vouch) -> None:
    (kept,) = remember(vouch, "One.")
    vouch.run("memory", "forget", str(kept), "999", "--yes", code=1)
    assert texts(vouch.run("memory", "list", "--json")) == ["One."]


def test_an_export_can_be_imported_and_importing_twice_adds_nothing(vouch: Vouch) -> None:
    remember(vouch, "I take my tea without milk.", "Größe: 茶, “quoted”, \\ and \\n.")
    exported = vouch.run("memory", "export").out
    vouch.write("mine.jsonl", exported)
    first = vouch.run("--user", "bob", "memory", "import", "mine.jsonl", "--json").object
    assert (first["new"], first["known"]) == (2, 0)
    again = vouch.run("--user", "bob", "memory", "import", "-", stdin=exported)
    assert again.out == "0 new, 2 known already\n"
    assert vouch.run("--user", "bob", "memory", "export").out == exported


def test_the_shared_memory_goes_elsewhere_with_its_own_word(vouch: Vouch, tmp_path: Path) -> None:
    remember(vouch, "A note.")
    exported = vouch.write("all.jsonl", vouch.run("memory", "export", "--scope", "all").out)
    there = ("--data", str(tmp_path / "new"))
    ran = vouch.run(*there, "memory", "import", "--shared", exported)
    assert ran.out == "2 new, 0 known already\n"
    assert "takes it back" in ran.err
    assert vouch.run(*there, "memory", "export", "--scope", "all").out == Path(exported).read_text("utf-8")
    own = ("--data", str(tmp_path / "own"))
    vouch.run(*own, "memory", "import", exported)
    assert vouch.run(*own, "memory", "list", "--scope", "shared").out == ""


def test_an_import_with_a_wrong_line_names_it_and_imports_nothing(vouch: Vouch) -> None:
    ran = vouch.run("memory", "import", "-", stdin='{"text": "fine"}\n{"txt": "not"}\n', code=2)
    assert "standard input line 2: text is missing" in ran.err
    assert vouch.run("memory", "list").out == ""


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b"not json", "this is no JSON: a value is missing at character 1"),
        (b'{"text" 5}', "this is no JSON: a colon is missing at character 9"),
        (b'{"text": "a"} more', "this is no JSON: something follows the object at character 15"),
        (b'{"text": "a', "this is no JSON: a text has no end, which begins at character 10"),
        (b'{"text": "\\q"}', "this is no JSON: a backslash has no meaning at character 11"),
        (b'{"text": "a",}', "this is no JSON: a"),  # of a comma too many the parsers say different things
        (b'{"text": ' + b"1" * 5000 + b"}", "a number has more than 30 digits"),
        (b'{"text": "a", "schema": "x"}', 'schema is "x", but must be a whole number'),
        (b'{"text": "a", "schema": true}', "schema is true, but must be a whole number"),
        (b'{"record": ["a"]}', 'record is ["a"], but must be one of session, turn,'),
        (b'{"text": "a", "schema": 2}', "record is missing; it must be one of session, turn,"),
        (b'{"text": "caf\xe9"}', "it is not UTF-8 text"),
    ],
)
def test_what_is_wrong_with_a_line_is_told_in_plain_words(vouch: Vouch, line: bytes, told: str) -> None:
    path = vouch.write("mine.jsonl", b'{"text": "fine"}\n\n' + line + b"\n")
    for arguments, name in (((path,), path), (("-",), "standard input")):
        ran = vouch.run("memory", "import", *arguments, stdin=Path(path).read_bytes(), code=2)
        assert f"vouch: {name} line 3: {told}" in ran.err
        assert ran.err.endswith("\nNothing was imported.\n")
    assert vouch.run("memory", "list").out == ""


def test_a_file_that_cannot_be_read_is_told_in_plain_words(vouch: Vouch) -> None:
    ran = vouch.run("memory", "import", "nowhere.jsonl", code=2)
    assert ran.err == "vouch: nowhere.jsonl cannot be read: No such file or directory\n"


def test_a_file_may_begin_as_editors_on_windows_have_it_begin(vouch: Vouch) -> None:
    path = vouch.write("mine.jsonl", b'\xef\xbb\xbf{"text": "fine"}\r\n')
    assert vouch.run("memory", "import", path).out == "1 new, 0 known already\n"


def test_why_tells_what_an_answer_was_made_from(vouch: Vouch) -> None:
    asked = vouch.run("ask", "--json", QUESTION).object
    vouch.run("ask", "My locker number is 214.")
    told = vouch.run("why", str(asked["turn"]), "--json").object
    assert (told["question"], told["answer"], told["state"]) == (QUESTION, asked["answer"], "done")
    (source,) = [entry for entry in told["found"] if entry["cited"]]
    assert (source["scope"], source["title"], source["state"]) == ("shared", "House rules", "live")
    assert (source["passage"], source["version"], source["number"]) == (1, 1, 1)
    assert told["learned"] == []
    assert vouch.run("why", str(asked["turn"])).out.startswith(f"Turn {asked['turn']}: {QUESTION}\n")
    last = vouch.run("why", "--json").object
    assert last["question"] == "My locker number is 214."
    assert [claim["text"] for claim in last["learned"]] == ["My locker number is 214."]
    assert "you have no turn 1" in vouch.run("--user", "bob", "why", "1", code=1).err
    vouch.run("--user", "bob", "why", code=1)


def test_memory_show_names_the_models_that_decided(vouch: Vouch) -> None:
    vouch.run("ask", "Rome is a city. My locker number is 214.")
    facts = vouch.run("memory", "list", "--kind", "fact", "--json").objects
    told = [vouch.run("memory", "show", str(fact["passage"])).out for fact in facts]
    assert told
    assert any(re.search(r"^Models    summarizer \S+", text, re.MULTILINE) for text in told)


# Feedback ---------------------------------------------------------------------------------------


def test_feedback_tells_where_nothing_is_learned_from_it(vouch: Vouch) -> None:
    nothing = str(vouch.run("ask", "--json", "Hello there!").object["turn"])
    told = vouch.run("feedback", nothing, "--good").out
    assert told == f"Turn {nothing}: good. It cites no passage: nothing is learned from it.\n"
    assert vouch.run("feedback", nothing, "--bad", "--json").object["is_learned_from"] is False
    turn = str(vouch.run("ask", "--json", QUESTION).object["turn"])
    assert vouch.run("feedback", turn, "--good", "--json").object["is_learned_from"] is True


def test_a_reference_number_in_a_document_is_no_citation(vouch: Vouch) -> None:
    text = "The tower of Brill was built in 1612 by the guild of masons (Figure 2-A) [31] [1]."
    vouch.run("ingest", vouch.write("tower.md", f"# Tower\n\n{text}\n"))
    told = vouch.run("ask", "--json", "When was the tower of Brill built?").object
    assert text in told["answer"]
    assert told["invented_citations"] == []
    cited = {source["title"] for source in told["sources"] if source["cited"]}
    assert cited == {"Tower"}
    why = vouch.run("why", "--json").object
    assert why["invented_citations"] == []
    assert {found["title"] for found in why["found"] if found["cited"]} == {"Tower"}


def test_feedback_is_recorded_for_answer_and_passage(vouch: Vouch) -> None:
    turn = str(vouch.run("ask", "--json", QUESTION).object["turn"])
    assert vouch.run("feedback", turn, "--good").out == f"Turn {turn}: good.\n"
    told = vouch.run("feedback", turn, "--bad", "--why", "too long", "--passage", "1", "--json").object
    assert (told["rating"], told["source"]) == ("bad", 1)
    assert "no source 9" in vouch.run("feedback", turn, "--good", "--passage", "9", code=1).err
    vouch.run("feedback", "999", "--good", code=1)
    with vouch.database() as database, database.reading() as sql:
        rows = (
            sql.connection()
            .exec_driver_sql("SELECT rating, reason, version_id FROM feedback ORDER BY id")
            .all()
        )
    assert [tuple(row) for row in rows] == [("good", "", None), ("bad", "too long", 1)]


def test_what_is_taught_is_remembered_and_can_be_undone(vouch: Vouch) -> None:
    turn = str(vouch.run("ask", "--json", "Who waters the plants?", code=1).object["turn"])
    vouch.run("feedback", turn, "--teach", "-", stdin="Marta waters the plants.\n")
    (kept,) = vouch.run("memory", "list", "--kind", "correction", "--json").objects
    assert kept["text"] == "Marta waters the plants."
    assert "Marta" in vouch.run("ask", "Who waters the plants?").out
    vouch.run("memory", "undo")
    vouch.run("memory", "list", "--kind", "correction", code=1)
    vouch.run("feedback", turn, "--teach", " ", code=2)


# Whose memory it is -----------------------------------------------------------------------------


def test_no_command_shows_one_users_memory_to_another(vouch: Vouch) -> None:
    (secret,) = remember(vouch, "My safe opens with zebra.")
    turn = vouch.run("ask", "--json", "What opens my safe, zebra or lion?").object
    paper = vouch.write("zebra.txt", "Zebra is what opens the safe.")
    vouch.run("ingest", paper)
    session, number = str(turn["session"]), str(turn["turn"])

    seen = [
        vouch.run("ask", "--json", "What does my safe open with?", environment={"VOUCH_USER": "bob"}, code=1),
        vouch.run("--user", "bob", "search", "safe", "--json"),
        vouch.run("--user", "bob", "memory", "list", "--scope", "all"),
        vouch.run("--user", "bob", "memory", "export", "--scope", "all"),
        vouch.run("--user", "bob", "memory", "show", str(secret), code=1),
        vouch.run("--user", "bob", "memory", "forget", str(secret), code=1),
        vouch.run("--user", "bob", "memory", "undo", code=1),
        vouch.run("--user", "bob", "memory", "undo", "2", code=1),
        vouch.run("--user", "bob", "memory", "undo", "--list", code=1),
        vouch.run("--user", "bob", "feedback", number, "--good", code=1),
        vouch.run("--user", "bob", "ask", "--session", session, "And the safe?", code=1),
        vouch.run("--user", "bob", "chat", "--session", session, stdin="hello\n", code=1),
        vouch.run(
            "--user", "bob", "chat", stdin=f"/memory\n/why {number}\n/sessions\n/forget {secret}\n", code=1
        ),
    ]
    for ran in seen:
        assert "zebra" not in (ran.out + ran.err).lower(), ran
    assert "zebra" in vouch.run("ask", "What does my safe open with?").out


@pytest.mark.slow
def test_a_command_that_takes_too_long_ends_with_4_and_keeps_what_is_done(vouch: Vouch) -> None:
    folder = vouch.write("library/0.md", HANDBOOK)
    for number in range(400):
        vouch.write(f"library/{number}.txt", f"Page {number} says that the answer is {number}. " * 60)
    ran = vouch.run("ingest", "--timeout", "6", str(Path(folder).parent), code=4)
    assert "not done within 6 s" in ran.err
    assert vouch.run("doctor", "--json").objects


def test_an_answer_leaves_nothing_of_a_librarys_own_at_home(tmp_path: Path, minilm_folder: Path) -> None:
    vouch = Vouch(tmp_path, minilm_folder.parent)
    vouch.run("ask", QUESTION, code=1)
    assert {path.name for path in tmp_path.iterdir()} <= {"cache", "share", "state", "config"}
