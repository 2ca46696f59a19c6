"""Settings: what a file may say, which value wins, and how mistakes are told."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as effort
from hypothesis import strategies as st

from assistant import config
from assistant.config import (
    FILE_KEYS,
    SECTIONS,
    AnswerSettings,
    InvalidSection,
    Locations,
    ModelSettings,
    RetrievalSettings,
    Settings,
    StoreSettings,
    api_key,
    find_locations,
    key_lines,
    load_settings,
    should_be_plain,
    user_name,
    wants_colour,
)
from stores.errors import InvalidSetting, StoreUnavailable, WrongUsage

REPOSITORY = Path(config.__file__).parent.parent


def loaded(folder: Path, text: str, **environ: str) -> Settings:
    path = folder / "settings.toml"
    path.write_text(text, encoding="utf-8")
    return load_settings(path, environ=environ, explicit=True)


def mistakes(folder: Path, text: str) -> list[str]:
    with pytest.raises(WrongUsage) as caught:
        loaded(folder, text)
    return caught.value.message.split("\n")


# Sections


def test_a_section_refuses_a_value_it_cannot_run_with() -> None:
    with pytest.raises(InvalidSetting, match=r"dense_weight is 1\.5, but must be between 0 and 1"):
        RetrievalSettings(dense_weight=1.5)


def test_a_section_holds_all_its_mistakes() -> None:
    with pytest.raises(InvalidSection) as caught:
        AnswerSettings(passages=0, sentences=0)
    assert [problem.key for problem in caught.value.problems] == ["answer.passages", "answer.sentences"]


def test_a_number_that_is_not_a_number_is_refused() -> None:
    with pytest.raises(InvalidSetting):
        RetrievalSettings(neighbour_lift=float("nan"))


def test_asking_a_server_takes_an_address_and_a_name() -> None:
    with pytest.raises(InvalidSection) as caught:
        ModelSettings(backend="openai")
    assert [problem.key for problem in caught.value.problems] == ["model.base_url", "model.name"]


@pytest.mark.parametrize(
    "url",
    [
        "localhost:8000",
        "ftp://host",
        "http://",
        "http://[half",
        "http://host:port",
        "https://user:hidden@host",
        "https://other.example\\@api.openai.com",
        "https://host/ v1",
    ],
)
def test_a_server_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(InvalidSetting) as caught:
        ModelSettings(base_url=url)
    assert "hidden" not in caught.value.message


def test_every_section_of_settings_can_be_named_in_the_file() -> None:
    assert set(SECTIONS) == {name for name in Settings.__dataclass_fields__ if name != "origins"}


def test_the_password_in_a_store_address_is_not_shown() -> None:
    settings = Settings(store=StoreSettings(url="postgresql://me:hidden@host/vouch?password=hidden&x=1"))
    shown = {key: value for key, value, _ in settings.in_force()}
    assert shown["store.url"] == "postgresql://...@host/vouch?password=...&x=1"
    assert "hidden" not in repr(settings)


# The file


def test_a_file_that_is_not_there_leaves_the_defaults(tmp_path: Path) -> None:
    assert load_settings(tmp_path / "settings.toml", environ={}, explicit=False) == Settings()


def test_a_file_that_was_named_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(WrongUsage, match="There is no settings file"):
        load_settings(tmp_path / "mine.toml", environ={}, explicit=True)


def test_a_directory_is_no_settings_file(tmp_path: Path) -> None:
    with pytest.raises(WrongUsage, match="cannot be read: Is a directory"):
        load_settings(tmp_path, environ={}, explicit=False)


def test_a_value_in_the_file_wins_over_the_default(tmp_path: Path) -> None:
    assert loaded(tmp_path, "[retrieval]\npool = 7\n").retrieval == RetrievalSettings(pool=7)


def test_every_default_can_be_written_in_the_file(tmp_path: Path) -> None:
    lines = []
    for name, kind in SECTIONS.items():
        lines.append(f"[{name}]")
        for key, value in vars(kind()).items():
            if isinstance(value, bool):
                lines.append(f"{key} = {str(value).lower()}")
            elif isinstance(value, int | float):
                lines.append(f"{key} = {value}")
            elif isinstance(value, str):
                lines.append(f'{key} = "{value}"')
    settings = loaded(tmp_path, "\n".join(lines))
    for name, kind in SECTIONS.items():
        assert getattr(settings, name) == kind()


def test_a_whole_number_will_do_for_a_fraction(tmp_path: Path) -> None:
    value = loaded(tmp_path, "[retrieval]\ndense_weight = 1").retrieval.dense_weight
    assert (value, type(value)) == (1.0, float)


def test_keys_are_bound_by_binding_id(tmp_path: Path) -> None:
    settings = loaded(tmp_path, '[terminal.keys]\nwhy = "f2, ctrl+w"\n"app.quit" = "f10"\n')
    assert settings.terminal.keys == {"why": "f2, ctrl+w", "app.quit": "f10"}


def test_a_file_may_open_with_a_byte_order_mark_and_end_lines_as_windows_does(tmp_path: Path) -> None:
    settings = loaded(tmp_path, "\ufeff# mine\r\n\r\n[log]\r\ndays = 3\r\n")
    assert (settings.log.days, settings.origin("log.days")) == (3, "settings.toml line 4")


# Where values came from


def test_the_origin_of_a_value_is_its_line(tmp_path: Path) -> None:
    settings = loaded(tmp_path, '\n[model]\n# which\nname = "m"\n\n[terminal.keys]\nwhy = "f2"\n')
    assert settings.origin("model.name") == "settings.toml line 4"
    assert settings.origin("terminal.keys.why") == "settings.toml line 7"
    assert settings.origin("model.retries") == "default"


def test_a_value_from_a_variable_says_so(tmp_path: Path) -> None:
    settings = loaded(tmp_path, "[terminal]\nplain = true", VOUCH_PLAIN="0", VOUCH_USER="ada")
    assert settings.terminal.plain is False
    assert settings.origin("terminal.plain") == "VOUCH_PLAIN"
    assert settings.origin("user") == "VOUCH_USER"


def test_a_value_from_an_option_can_say_so() -> None:
    assert Settings().with_origin("user", "--user").origin("user") == "--user"


def test_a_key_that_does_not_exist_has_no_origin() -> None:
    with pytest.raises(KeyError):
        Settings().origin("retrieval.denseweight")


def test_everything_in_force_is_listed(tmp_path: Path) -> None:
    listed = list(loaded(tmp_path, '[terminal.keys]\nwhy = "f2"').in_force())
    assert ("terminal.keys.why", "f2", "settings.toml line 2") in listed
    assert ("retrieval.pool", 100, "default") in listed
    assert {key for key, _, _ in listed} == {*FILE_KEYS, "terminal.keys.why"} - {"terminal.keys"}


# Mistakes


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "\n[retrieval]\ndenseweight = 0.5",
            "line 3: retrieval.denseweight is not a setting; did you mean retrieval.dense_weight?",
        ),
        ("[retreival]\npool = 3", "line 1: retreival is not a section; did you mean [retrieval]?"),
        ("[wholly.unlike]\na = 3", "line 1: wholly is not a section"),
        (
            "[model]\nthreshold = 0.5",
            "line 2: model.threshold is not a setting; did you mean answer.threshold?",
        ),
        ("threshold = 0.5", "line 1: threshold is not a setting; did you mean answer.threshold?"),
        ('[model]\napi_key = "hidden"', "line 2: model.api_key is not a setting"),
        ("treshold = 0.5", "line 1: treshold is not a setting; did you mean answer.threshold?"),
        ("[model]\nxyzzy = 1", "line 2: model.xyzzy is not a setting"),
        ('"\\u001b[31m" = 1', "line 1: '\\x1b[31m' is not a setting"),
        ("model = 3", "line 1: model is 3, but must be a section: [model]"),
        ("[[model]]", "line 1: model is a list, but must be a section: [model]"),
        ("[terminal]\nkeys = 3", "line 2: terminal.keys is 3, but must be a section: [terminal.keys]"),
        (
            "[terminal.keys]\nwhy = 2",
            'line 2: terminal.keys.why is 2, but must be text such as "f2, ctrl+w"',
        ),
        ("[retrieval]\npool = true", "line 2: retrieval.pool is true, but must be a whole number"),
        ("[retrieval]\npool = 1.0", "line 2: retrieval.pool is 1.0, but must be a whole number"),
        ('[retrieval]\ndense_weight = "1"', "line 2: retrieval.dense_weight is '1', but must be a number"),
        ("[terminal]\nplain = 1", "line 2: terminal.plain is 1, but must be true or false"),
        ("[model]\nname = 1979-05-27", "line 2: model.name is 1979-05-27, but must be text in quotes"),
        (
            f"[retrieval]\npool = 0x{'f' * 5000}",
            "line 2: retrieval.pool is too large a number, but must be a whole number",
        ),
        ("[retrieval]\npool = 0", "line 2: retrieval.pool is 0, but must be 1 or more"),
        (
            '[model]\nbackend = "openai"\nname = "m"',
            "line 1: model.base_url is '', but must be the server's address when model.backend is 'openai'",
        ),
    ],
)
def test_a_mistake_is_told_with_its_line(tmp_path: Path, text: str, told: str) -> None:
    assert mistakes(tmp_path, text) == [f"settings.toml {told}"]


def test_all_mistakes_are_told_at_once_in_the_order_of_the_file(tmp_path: Path) -> None:
    text = "[nowhere]\n[retrieval]\npool = 0\ncandidates = true\n[answer]\npassages = 0\nsentence = 2\n"
    starts = [told.split(" is ")[0] for told in mistakes(tmp_path, text)]
    assert starts == [
        "settings.toml line 1: nowhere",
        "settings.toml line 3: retrieval.pool",
        "settings.toml line 4: retrieval.candidates",
        "settings.toml line 6: answer.passages",
        "settings.toml line 7: answer.sentence",
    ]


def test_a_value_of_the_wrong_type_is_told_once(tmp_path: Path) -> None:
    text = '[model]\nbackend = "openai"\nbase_url = "http://localhost/v1"\nname = 4\n'
    assert mistakes(tmp_path, text) == ["settings.toml line 4: model.name is 4, but must be text in quotes"]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("[model]\nname = \n", "settings.toml line 2, column 8: "),
        ("[model]\n\nname =", "settings.toml line 3: "),
        ("[log]\ndays = 1\ndays = 2\n", "settings.toml line 3, column 9: "),
        (f"a = {'9' * 5000}", "settings.toml: "),
        (f"a = {'[' * 5000}", "settings.toml: "),
    ],
)
def test_a_file_that_is_no_toml_is_told_where(tmp_path: Path, text: str, place: str) -> None:
    assert mistakes(tmp_path, text)[0].startswith(place)


def test_a_file_that_is_no_text_is_told_where(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_bytes(b"[model]\nname = '\xff'\n")
    with pytest.raises(WrongUsage, match=r"settings.toml line 2: the file is not UTF-8 text"):
        load_settings(path, environ={}, explicit=False)


# Lines of keys


def paths(value: object, at: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every key that tomllib found, tables in lists counted as the list's own."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield (*at, key)
            yield from paths(inner, (*at, key))
    elif isinstance(value, list):
        for inner in value:
            yield from paths(inner, at)


def quoted(text: str) -> str:
    escaped = (f"\\U{ord(c):08x}" if c in '"\\' or ord(c) < 32 or ord(c) == 127 else c for c in text)
    return f'"{"".join(escaped)}"'


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
KEYS = st.one_of(
    st.sampled_from(["a", "b", "model", "dense-weight", "3"]),
    TEXTS.map(quoted),
    st.sampled_from(["'it s'", "'[x]'", "'# = '", "''"]),
)
SCALARS = st.one_of(
    st.sampled_from(["1", "-0.5e3", "true", "nan", "1979-05-27 07:32:00Z", "07:32:00", "0xdead_beef"]),
    TEXTS.map(quoted),
    st.sampled_from(
        [
            '"""\n[no]\nkey = "1"\n"""',
            "'''\n[no]\nkey = '1' # '''",
            '"""""quoted"""""',
            "''''quoted''''",
            '"""a \\""" = \\\\"""',
            '"# [no] = \\""',
            "'\\'",
        ]
    ),
)
GAPS = st.sampled_from(["", " ", "\t", "  "])
LINE_ENDS = st.sampled_from(["\n", "\n\n", " # = [no] \"'''\n", " #\n"])


@st.composite
def dotted_keys(draw: st.DrawFn) -> str:
    parts = draw(st.lists(KEYS, min_size=1, max_size=3))
    return f"{draw(GAPS)}.{draw(GAPS)}".join(parts)


def arrays(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    separators = st.sampled_from([",", ", ", ",\n", " , # ] }\n"])
    return st.builds(
        lambda items, separator, end: f"[{separator.join(items)}{end}]",
        st.lists(inner, min_size=1, max_size=3),
        separators,
        st.sampled_from(["", ",", "\n", ", # ]\n"]),
    )


def tables(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pairs = st.lists(st.tuples(dotted_keys(), inner), max_size=3)
    return pairs.map(lambda pairs: "{" + ", ".join(f"{key} = {value}" for key, value in pairs) + "}")


VALUES = st.recursive(SCALARS, lambda inner: st.one_of(arrays(inner), tables(inner)), max_leaves=6)


@st.composite
def documents(draw: st.DrawFn) -> str:
    """Text that is mostly TOML, with whatever makes its keys hard to find."""
    statements = st.one_of(
        st.tuples(dotted_keys(), VALUES).map(lambda pair: f"{pair[0]} = {pair[1]}"),
        st.tuples(GAPS, dotted_keys(), GAPS).map(lambda parts: f"[{''.join(parts)}]"),
        st.tuples(GAPS, dotted_keys(), GAPS).map(lambda parts: f"[[{''.join(parts)}]]"),
    )
    text = ""
    for statement in draw(st.lists(statements, max_size=6)):
        longer = text + statement + draw(LINE_ENDS)
        try:
            tomllib.loads(longer)
        except tomllib.TOMLDecodeError:  # mostly a key set twice: the others are as good without it
            continue
        text = longer
    return text


@effort(deadline=None)  # a busy machine is no defect
@given(documents())
def test_the_keys_found_are_those_tomllib_finds(text: str) -> None:
    assert set(key_lines(text)) == set(paths(tomllib.loads(text)))


@effort(deadline=None)  # a busy machine is no defect
@given(st.text("ab1.='\"[]{},# \n\\"))
def test_any_text_gives_lines_within_it(text: str) -> None:
    assert all(1 <= line <= text.count("\n") + 1 for line in key_lines(text).values())


@effort(deadline=None)  # a busy machine is no defect
@given(documents(), st.data())
def test_a_slip_of_the_pen_leaves_the_keys_those_tomllib_finds(text: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(text)))
    slipped = text[:at] + data.draw(st.sampled_from(["", *"ab1.='\"[]{},# \n\\"])) + text[at + 1 :]
    found = set(key_lines(slipped))
    try:
        document = tomllib.loads(slipped)
    except tomllib.TOMLDecodeError:  # most slips: that nothing worse came of it is all there is to see
        return
    assert found == set(paths(document))


@effort(deadline=None)  # a busy machine is no defect
@given(st.lists(VALUES, max_size=8))
def test_each_key_is_on_its_line_whatever_the_values_before_it(values: list[str]) -> None:
    text, expected = "", {}
    for number, value in enumerate(values):
        longer = f"{text}k{number} = {value}\n"
        try:
            tomllib.loads(longer)
        except tomllib.TOMLDecodeError:  # a key twice in one table
            continue
        expected[f"k{number}",] = text.count("\n") + 1
        text = longer
    found = key_lines(text)
    assert {key: found[key] for key in expected} == expected


def test_lines_of_a_file_with_all_kinds_of_keys() -> None:
    text = (
        "top = 1\n"
        "[a.b]\n"
        'x."y z" = """\n'
        "[not.a.table]\n"
        '"""\n'
        "list = [ # of tables\n"
        "  {in = 1},\n"
        "]\n"
        "[[c]]\n"
        "d = {e = {}, f.g = 2}\n"
    )
    assert key_lines(text) == {
        ("top",): 1,
        ("a",): 2,
        ("a", "b"): 2,
        ("a", "b", "x"): 3,
        ("a", "b", "x", "y z"): 3,
        ("a", "b", "list"): 6,
        ("a", "b", "list", "in"): 7,
        ("c",): 9,
        ("c", "d"): 10,
        ("c", "d", "e"): 10,
        ("c", "d", "f"): 10,
        ("c", "d", "f", "g"): 10,
    }


# Locations


def test_files_are_in_the_home_directory_by_default() -> None:
    assert find_locations({"HOME": "/home/ada"}) == Locations(
        data=Path("/home/ada/.local/share/vouch"),
        settings=Path("/home/ada/.config/vouch/settings.toml"),
        cache=Path("/home/ada/.cache/vouch"),
        state=Path("/home/ada/.local/state/vouch"),
    )


def test_files_are_where_xdg_says() -> None:
    names = ("DATA", "CONFIG", "CACHE", "STATE")
    found = find_locations({"HOME": "/home/ada"} | {f"XDG_{name}_HOME": f"/x/{name}" for name in names})
    assert found == Locations(
        data=Path("/x/DATA/vouch"),
        settings=Path("/x/CONFIG/vouch/settings.toml"),
        cache=Path("/x/CACHE/vouch"),
        state=Path("/x/STATE/vouch"),
    )


def test_a_relative_xdg_directory_is_ignored() -> None:
    assert find_locations({"HOME": "/h", "XDG_CACHE_HOME": "tmp"}).cache == Path("/h/.cache/vouch")


def test_a_variable_names_data_and_settings() -> None:
    found = find_locations({"HOME": "/h", "VOUCH_DATA": "~/d", "VOUCH_SETTINGS": "/s.toml"})
    assert (found.data, found.data_origin) == (Path("/h/d"), "VOUCH_DATA")
    assert (found.settings, found.settings_origin) == (Path("/s.toml"), "VOUCH_SETTINGS")


def test_an_option_wins_over_the_variable() -> None:
    environ = {"HOME": "/h", "VOUCH_DATA": "/variable", "VOUCH_SETTINGS": "/variable"}
    found = find_locations(environ, data="/d", settings="/s")
    assert (found.data, found.data_origin) == (Path("/d"), "--data")
    assert (found.settings, found.settings_origin) == (Path("/s"), "--settings")


def test_only_a_named_settings_file_has_to_be_there() -> None:
    assert not find_locations({"HOME": "/h"}).settings_are_named
    assert find_locations({"HOME": "/h"}, settings="/s").settings_are_named


def test_an_empty_data_option_is_refused() -> None:
    with pytest.raises(WrongUsage, match="--data is empty"):
        find_locations({"HOME": "/h"}, data="")


def test_directories_are_made_for_their_owner_alone(tmp_path: Path) -> None:
    previous = os.umask(0)
    try:
        find_locations({"HOME": str(tmp_path)}).create_directories()
    finally:
        os.umask(previous)
    made = [path for path in tmp_path.rglob("*") if path.is_dir()]
    assert len(made) == 7  # .local, .local/share, .local/state, .cache, and vouch in each of the last three
    assert {stat.S_IMODE(path.stat().st_mode) for path in made} == {0o700}


def test_a_directory_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o750)
    find_locations({"HOME": str(tmp_path / "home")}, data=str(tmp_path)).create_directories()
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o750


def test_a_file_in_the_way_of_a_directory_is_wrong_usage(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    locations = find_locations({"HOME": str(tmp_path)}, data=str(tmp_path / "file" / "data"))
    with pytest.raises(WrongUsage, match="file is a file") as caught:
        locations.create_directories()
    assert "--data" in caught.value.hint


def test_a_directory_that_cannot_be_made_now_can_be_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, **_: object) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(Path, "mkdir", full)
    with pytest.raises(StoreUnavailable, match="No space left on device"):
        find_locations({"HOME": str(tmp_path)}).create_directories()


# Users


def test_the_user_is_the_option_then_the_variable_then_the_login(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: "login")
    assert user_name("option", {"VOUCH_USER": "variable"}) == "option"
    assert user_name(None, {"VOUCH_USER": "variable"}) == "variable"
    assert user_name(None, {}) == "login"


def test_a_user_without_a_login_name_is_me(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> str:
        raise KeyError("getpwuid(): uid not found: 1234")

    monkeypatch.setattr("getpass.getuser", nobody)
    assert user_name(None, {}) == "me"


def test_one_name_in_two_spellings_is_one_user() -> None:
    assert user_name(" Zoe\u0308 ", {}) == "Zo\u00eb"


@pytest.mark.parametrize(
    "name",
    ["", "  ", "a" * 65, "a\x1b[31m", "a\nb", "a\u200db", "\u202ea", "\udc80", "a/b", "a\\b", ".", ".."],
)
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(WrongUsage) as caught:
        user_name(name, {})
    assert caught.value.message.isprintable()


def test_a_name_may_have_sixty_four_characters() -> None:
    assert user_name("é" * 64, {}) == "é" * 64


# Keys of services


def server(url: str = "http://localhost:8000/v1", key_file: Path | str = "") -> ModelSettings:
    return ModelSettings(backend="openai", base_url=url, name="m", key_file=str(key_file))


def file_with_key(folder: Path, content: str, mode: int) -> Path:
    path = folder / "key"
    path.write_text(content, encoding="utf-8")
    path.chmod(mode)
    return path


def test_the_own_variable_wins(tmp_path: Path) -> None:
    model = server("https://api.openai.com/v1", file_with_key(tmp_path, "in-file", 0o600))
    assert api_key(model, {"VOUCH_API_KEY": "own", "OPENAI_API_KEY": "theirs"}) == "own"


def test_openais_key_goes_to_openai() -> None:
    assert api_key(server("https://API.openai.com/v1"), {"OPENAI_API_KEY": "theirs"}) == "theirs"


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:8000/v1",
        "https://api.openai.com.other.example/v1",
        "https://other.example/api.openai.com",
        "http://api.openai.com/v1",
    ],
)
def test_openais_key_goes_nowhere_else(url: str) -> None:
    assert api_key(server(url), {"OPENAI_API_KEY": "theirs"}) == ""


@pytest.mark.parametrize("mode", [0o600, 0o400])
def test_a_key_is_read_from_a_file_of_its_owner_alone(tmp_path: Path, mode: int) -> None:
    assert api_key(server(key_file=file_with_key(tmp_path, "in-file\n", mode)), {}) == "in-file"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o200])
def test_a_key_file_others_may_read_is_refused(tmp_path: Path, mode: int) -> None:
    path = file_with_key(tmp_path, "hidden", mode)
    with pytest.raises(WrongUsage) as caught:
        api_key(server(key_file=path), {})
    assert caught.value.hint == f"Run: chmod 600 {path}"


def test_a_key_file_is_found_in_the_home_directory(tmp_path: Path) -> None:
    file_with_key(tmp_path, "in-file", 0o600)
    assert api_key(server(key_file="~/key"), {"HOME": str(tmp_path)}) == "in-file"


def test_a_key_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(WrongUsage, match="which is no file"):
        api_key(server(key_file=tmp_path / "key"), {})


@pytest.mark.parametrize("content", ["", "hidden word", "hidden\nhidden", "hidden\x00", "hiddén"])
def test_what_is_no_key_is_refused_without_showing_it(tmp_path: Path, content: str) -> None:
    with pytest.raises(WrongUsage) as caught:
        api_key(server(key_file=file_with_key(tmp_path, content, 0o600)), {})
    assert "hidd" not in caught.value.message + caught.value.hint


def test_a_server_may_need_no_key() -> None:
    assert api_key(server(), {}) == ""


# Looks

PLAIN = Settings(terminal=config.TerminalSettings(plain=True))


@pytest.mark.parametrize(
    ("option", "environ", "settings", "is_terminal", "reason"),
    [
        (True, {"VOUCH_PLAIN": "1"}, PLAIN, False, "--plain"),
        (False, {"VOUCH_PLAIN": "1", "ACCESSIBLE": "1"}, PLAIN, False, "VOUCH_PLAIN"),
        (False, {"ACCESSIBLE": "1", "TERM": "dumb"}, PLAIN, False, "ACCESSIBLE"),
        (False, {"TERM": "dumb"}, PLAIN, False, "TERM=dumb"),
        (False, {}, PLAIN, False, "the settings"),
        (False, {}, Settings(), False, "no terminal"),
        (False, {"VOUCH_PLAIN": "0", "ACCESSIBLE": "", "TERM": "xterm"}, Settings(), True, None),
    ],
)
def test_plain_mode_is_explained_by_its_first_reason(
    option: bool, environ: dict[str, str], settings: Settings, is_terminal: bool, reason: str | None
) -> None:
    assert should_be_plain(option, environ, settings, is_terminal) == reason


@pytest.mark.parametrize(
    ("option", "environ", "is_terminal", "wanted"),
    [
        (False, {"TERM": "xterm", "NO_COLOR": ""}, True, True),
        (False, {"TERM": "xterm"}, False, False),
        (True, {"TERM": "xterm"}, True, False),
        (False, {"NO_COLOR": "1"}, True, False),
        (False, {"TERM": "dumb"}, True, False),
    ],
)
def test_colour_is_for_a_terminal_that_has_it_and_nobody_refused(
    option: bool, environ: dict[str, str], is_terminal: bool, wanted: bool
) -> None:
    assert wants_colour(option, environ, is_terminal) is wanted


def test_importing_the_settings_imports_nothing_heavy() -> None:
    program = "import sys, assistant.config; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    heavy = {"tomllib", "difflib", "getpass", "logging", "numpy", "sqlalchemy", "pydantic", "torch"}
    assert not heavy & set(done.stdout.split())
