"""The settings file: what it may say, which value wins, and how mistakes are told."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as effort
from hypothesis import strategies as st

from assistant.settings import settings_file
from assistant.settings.config import FILE_KEYS, SECTIONS, Json, RetrievalSettings, Settings
from assistant.settings.identity import key_for
from assistant.settings.settings_file import DEEPEST_KEY, MOST_TOLD, SETTINGS_BYTES, key_lines, load_settings
from stores.base.errors import WrongUsage


def test_what_a_server_is_sent_beside_may_be_lists_and_sections(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text(
        '[model]\nstop = ["END"]\n[model.extra_body]\ntop_k = 20\n[model.extra_headers]\nX-Title = "Vouch"\n'
    )
    model = load_settings(file, environ={}, explicit=True).model
    assert (model.stop.read(), model.extra_body.read()) == (["END"], {"top_k": 20})
    assert model.extra_headers.read() == {"X-Title": "Vouch"}
    for wrong, told in [
        ('stop = "END"', "must be a list"),
        ("stop = [1]", "must be a list of texts"),
        ("extra_body = 3", "must be a section"),
        ("extra_body = {stream = false}", "without input, instructions, messages, model, stream"),
        ("extra_body = {from = 2026-11-25}", "without dates"),
        ('extra_headers = {X = "a\\nb"}', "a header can carry"),
    ]:
        file.write_text(f"[model]\n{wrong}\n")
        with pytest.raises(WrongUsage, match=told):
            load_settings(file, environ={}, explicit=True)


@pytest.mark.parametrize(
    ("wrong", "shown"),
    [
        ('extra_headers = "Authorization: Bearer s3cret"', r"extra_headers is '\.\.\.', but"),
        ('extra_headers = {Authorization = "Bearer\\ns3cret"}', r"""is '{"Authorization": "\.\.\."}', but"""),
        ('extra_body = {stream = true, k = {of = ["s3cret"]}}', r'"k": {"of": \["\.\.\."\]}'),
        ('base_url = "http://ann:s3cret@h/?key=s3cret"', r"'http://\.\.\.@h/\?key=\.\.\.'"),
        ('key_file = "s3cret"', r"key_file is '\.\.\.', but must be a path"),
    ],
)
def test_a_mistake_in_what_may_hold_a_key_is_told_without_it(tmp_path: Path, wrong: str, shown: str) -> None:
    with pytest.raises(WrongUsage, match=shown) as told:
        loaded(tmp_path, f"[model]\n{wrong}\n")
    assert "s3cret" not in told.value.message + told.value.hint


def loaded(folder: Path, text: str, **environ: str) -> Settings:
    path = folder / "settings.toml"
    path.write_text(text, encoding="utf-8")
    return load_settings(path, environ=environ, explicit=True)


def mistakes(folder: Path, text: str) -> list[str]:
    with pytest.raises(WrongUsage) as caught:
        loaded(folder, text)
    return caught.value.message.split("\n")


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
            elif isinstance(value, int | float | Json):
                lines.append(f"{key} = {value}")
            elif isinstance(value, str):
                lines.append(f'{key} = "{value}"')
    settings = loaded(tmp_path, "\n".join(lines))
    for name, kind in SECTIONS.items():
        assert getattr(settings, name) == kind()


def test_a_model_that_weighs_is_refused_where_none_is_set(tmp_path: Path) -> None:
    assert mistakes(tmp_path, '# mine\n[memory]\nagents = "model"\n') == [
        "settings.toml line 3: memory.agents is 'model', but must be auto or reader while model.backend is "
        "'extractive', which is no model that could weigh"
    ]
    served = '[model]\nbackend = "openai"\nbase_url = "http://localhost/v1"\nname = "m"\n'
    assert loaded(tmp_path, f'{served}[memory]\nagents = "model"\n').memory.agents == "model"


LOCAL = """
[model]
backend = "openai"
base_url = "https://example.org/v1"
name = "large"
max_tokens = 100

[models.local]
base_url = "http://127.0.0.1:8080/v1"
name = "small"
temperature = 0.7

[memory]
model = "local"
"""


def test_further_models_have_sections_of_their_own(tmp_path: Path) -> None:
    settings = loaded(tmp_path, LOCAL)
    local = settings.models["local"]
    assert (local.backend, local.name, local.max_tokens) == ("openai", "small", 1024)
    assert settings.section_of(local) == settings.section_of(replace(local, name="other")) == "models.local"
    assert settings.section_of(replace(settings.model, name="other")) == "model"
    assert "models.local.temperature" in settings.origins
    assert "models.local.max_tokens" not in settings.origins


def test_a_key_is_for_its_own_server_alone(tmp_path: Path) -> None:
    settings = loaded(tmp_path, LOCAL)
    keys = {"VOUCH_API_KEY": "large-key", "VOUCH_API_KEY_LOCAL": "local-key"}
    assert key_for(settings, settings.model, keys) == "large-key"
    assert key_for(settings, settings.models["local"], keys) == "local-key"
    assert key_for(settings, settings.models["local"], {"VOUCH_API_KEY": "large-key"}) == ""


def test_personas_are_texts_by_name(tmp_path: Path) -> None:
    settings = loaded(tmp_path, '[personas]\neditor = "Edit."\n"in verse" = "Rhyme."\n')
    assert settings.personas == {"editor": "Edit.", "in verse": "Rhyme."}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[models.a]\nname = 3\n", "settings.toml line 2: models.a.name is 3, but must be text in quotes"),
        ("[models.a]\nnme = 'x'\n", "settings.toml line 2: models.a.nme is not a setting"),
        ("models = 3\n", "settings.toml line 1: models is 3, but must be sections: [models.NAME]"),
        ("personas = 3\n", "settings.toml line 1: personas is 3, but must be a section: [personas]"),
        ("[personas]\na = 3\n", "settings.toml line 2: personas.a is 3, but must be text in quotes"),
        ("[personas]\na = ''\n", "settings.toml line 2: personas.a is '', but must be text in quotes"),
        ("[memory]\nmodel = 'x'\n", "settings.toml line 2: memory.model is 'x', but must be empty"),
        ("[models.a]\nname = 'x'\n", "settings.toml line 1: models.a.base_url is '', but must be the server"),
    ],
)
def test_a_mistake_in_a_further_model_or_a_persona_is_told_with_its_line(
    tmp_path: Path, text: str, told: str
) -> None:
    assert any(each.startswith(told) for each in mistakes(tmp_path, text)), mistakes(tmp_path, text)


def test_a_whole_number_will_do_for_a_fraction(tmp_path: Path) -> None:
    value = loaded(tmp_path, "[retrieval]\ndense_weight = 1").retrieval.dense_weight
    assert (value, type(value)) == (1.0, float)


def test_keys_are_bound_by_binding_id(tmp_path: Path) -> None:
    settings = loaded(tmp_path, '[terminal.keys]\nwhy = "f2, ctrl+w"\n"quit" = "f10"\n')
    assert settings.terminal.keys == {"why": "f2, ctrl+w", "quit": "f10"}


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
        (
            '[terminal]\nmouse = true\ntheme = "textual-drak"',
            "line 3: terminal.theme is 'textual-drak', but must be a theme, such as 'textual-dark'",
        ),
        (
            '[terminal]\ntheme = "Solarised-Light"',
            "line 2: terminal.theme is 'Solarised-Light', but must be a theme, such as 'solarized-light'",
        ),
        ("[terminal]\nkeys = 3", "line 2: terminal.keys is 3, but must be a section: [terminal.keys]"),
        (
            '[terminal.keys]\n\nwhi = "f9"',
            "line 3: terminal.keys.whi is the id of no key; did you mean terminal.keys.why?",
        ),
        ('[terminal.keys]\nxyzzy = "f9"', "line 2: terminal.keys.xyzzy is the id of no key"),
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


def test_a_key_of_many_parts_is_refused_before_its_parser_takes_a_minute(tmp_path: Path) -> None:
    deepest = ".".join("a" * DEEPEST_KEY)
    assert mistakes(tmp_path, f"{deepest} = 1") == ["settings.toml line 1: a is not a section"]
    text = f"[log]\n{'.'.join('a' * 40_000)} = 1"
    assert mistakes(tmp_path, text) == ["settings.toml line 2: a key has more than 16 parts"]


def test_a_file_of_many_mistakes_tells_the_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_for: list[tuple[str, ...]] = []
    monkeypatch.setattr(settings_file, "_nearest", lambda path, **_: looked_for.append(path) or "")
    told = mistakes(tmp_path, "[log]\n" + "".join(f"key{n} = 1\n" for n in range(5_000)))
    assert len(told) == MOST_TOLD + 1
    assert told[0] == "settings.toml line 2: log.key0 is not a setting"
    assert told[-1] == "settings.toml: and 4980 more mistakes"
    assert len(looked_for) == MOST_TOLD  # for all of them it would take minutes


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f'[model]\nbase_url = "{"x" * 5000}"', f"line 2: model.base_url is '{'x' * 59}..., but must be an"),
        (f"{'k' * 5000} = 1", f"line 1: {'k' * 60}... is not a setting"),
        (
            f"a = {{{'k' * 5000} = 1, {'k' * 5000} = 2}}",
            "line 1, column 10016: duplicate inline table key 'kkk",
        ),
        (f"a = {'9' * 5000}", "a number has too many digits"),
    ],
    ids=["value", "key", "parser's", "digits"],
)
def test_a_long_mistake_is_told_short(tmp_path: Path, text: str, told: str) -> None:
    (line,) = mistakes(tmp_path, text)
    assert told in line
    assert len(line) < 300


def test_a_large_file_is_no_settings_file(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").touch()
    os.truncate(tmp_path / "settings.toml", SETTINGS_BYTES + 1)
    with pytest.raises(WrongUsage, match="is larger than 100 kB"):
        load_settings(tmp_path / "settings.toml", environ={}, explicit=False)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "settings.toml")
    with pytest.raises(WrongUsage, match="cannot be read: it is a pipe and no file"):
        load_settings(tmp_path / "settings.toml", environ={}, explicit=True)


def test_devices_are_read_to_the_limit() -> None:
    assert load_settings(Path("/dev/null"), environ={}, explicit=True) == Settings()
    with pytest.raises(WrongUsage, match="The settings file /dev/zero is larger than 100 kB"):
        load_settings(Path("/dev/zero"), environ={}, explicit=True)


def test_the_files_name_is_told_on_one_line(tmp_path: Path) -> None:
    path = tmp_path / "a\n\x1b[31m.toml"
    path.write_text("pol = 1")
    with pytest.raises(WrongUsage) as caught:
        load_settings(path, environ={}, explicit=True)
    assert (
        caught.value.message
        == "a\ufffd\ufffd[31m.toml line 1: pol is not a setting; did you mean retrieval.pool?"
    )
    assert caught.value.hint.isprintable()


def test_letters_of_the_files_name_stay_joined(tmp_path: Path) -> None:
    path = tmp_path / "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645.toml"  # Persian
    path.write_text("pol = 1")
    with pytest.raises(WrongUsage) as caught:
        load_settings(path, environ={}, explicit=True)
    assert caught.value.message.startswith(f"{path.name} line 1: ")
    assert path.name in caught.value.hint


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


def upper(keys: Iterable[tuple[str, ...]]) -> set[tuple[str, ...]]:
    """Those that are not too deep to be of interest, and the beginnings of those that are."""
    return {key[: DEEPEST_KEY + 1] for key in keys}


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
    assert set(key_lines(text)) == upper(paths(tomllib.loads(text)))


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
    assert found == upper(paths(document))


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
