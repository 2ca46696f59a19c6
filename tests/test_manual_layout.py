"""Manuals in plain text: each option or term is an entry with what it does, under its heading."""

from __future__ import annotations

from io import StringIO

from assistant.library.documents import PreparedDocument, read_stream
from assistant.library.formats.markdown_reader import read_markdown
from assistant.library.formats.text_reader import manual_sections, text_sections

HELP = """\
usage: tool [options] [files ...]

A tool that is only here to be read.

Copying:
  -a, --all             copy all files, also
                        hidden ones
      --author          name the author; see
                        --all for more
  -C DIR, --chdir DIR
                        change to DIR first
  --dry-run             copy nothing

Commands:
  add     adds a file
  remove  removes it
"""

PAGE = """\
TOOL(1)                  General Commands                  TOOL(1)

OPTIONS
       -n
       --none
              Copy nothing.  This is use‐
              ful for tests.

              It can be combined with
              -C and others.

       --help Print this text.

       -x, --exclude=PATTERN
              Leave out files:

              •   of this name
              •   in folders of
                  this name

GLOSSARY
       bare copy
           A copy without links.
"""


def test_an_entry_of_a_help_text_is_a_passage_under_its_heading() -> None:
    found = {(section.path, section.text) for section in manual_sections(HELP) if section.is_entry}
    assert found == {
        (("Copying",), "-a, --all\ncopy all files, also hidden ones"),
        (("Copying",), "--author\nname the author; see --all for more"),
        (("Copying",), "-C DIR, --chdir DIR\nchange to DIR first"),
        (("Copying",), "--dry-run\ncopy nothing"),
        (("Commands",), "add\nadds a file"),
        (("Commands",), "remove\nremoves it"),
    }


def test_all_paragraphs_of_an_entry_of_a_manual_page_stay_with_its_options() -> None:
    found = [(section.path[-1], section.text) for section in manual_sections(PAGE) if section.is_entry]
    assert found == [
        (
            "OPTIONS",
            "-n, --none\nCopy nothing. This is useful for tests.\nIt can be combined with -C and others.",
        ),
        ("OPTIONS", "--help\nPrint this text."),
        ("OPTIONS", "-x, --exclude=PATTERN\nLeave out files:\n• of this name\n• in folders of this name"),
        ("GLOSSARY", "bare copy\nA copy without links."),
    ]


def test_a_long_entry_is_told_in_parts_each_below_its_term() -> None:
    paragraphs = "\n\n".join(f"       {'word ' * 80}{n}." for n in range(3))
    page = f"OPTIONS\n   -a, --all\n{paragraphs}\n\n   -b\n       Short.\n\n   -c\n       Short.\n"
    terms = [section.text.partition("\n")[0] for section in manual_sections(page)]
    assert terms == ["-a, --all"] * 3 + ["-b", "-c"]


def test_a_glossary_without_options_is_read_by_its_terms() -> None:
    terms = "\n\n".join(f"   term {n}\n       What it means.\n\n       And more of it." for n in range(6))
    found = manual_sections(f"GLOSSARY\n{terms}\n")
    assert [section.text for section in found] == [
        f"term {n}\nWhat it means.\nAnd more of it." for n in range(6)
    ]


def test_prose_is_no_manual() -> None:
    prose = (
        "A letter that goes on\nfor two lines.\n\n    It begins anew,\nand -x is named in it.\n\n- a\n- b\n"
    )
    assert not manual_sections(prose)
    assert [section.path for section in text_sections(prose)] == [()]


def test_options_in_a_block_of_code_are_entries_and_other_code_stays_as_it_is() -> None:
    run = "docker run \\\n  --name a \\\n  -p 80:80 \\\n  -v /x:/y \\\n  --rm b"
    yaml = "".join(f"key{n}:\n  a: 1\n\n  b: 2\n" for n in range(9)).strip()
    readme = f"# Tool\n\n```\n{HELP}```\n\n```\n{run}\n```\n\n```\n{yaml}\n```\n"
    [section] = read_markdown(readme.encode(), "README.md").sections
    assert "\n\n-a, --all\ncopy all files, also hidden ones\n\n" in section.text
    assert run in section.text
    assert section.text.endswith(yaml)


def test_help_that_is_piped_in_is_read_so_too() -> None:
    (document,) = read_stream(StringIO(HELP), "tool")
    assert isinstance(document, PreparedDocument)
    assert ("tool › Copying", "--dry-run\ncopy nothing") in [(p.title, p.text) for p in document.passages]
