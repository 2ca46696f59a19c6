"""vouch encoder: another encoder is told, built, and stepped back from."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from cli_helpers import HANDBOOK, QUESTION, Vouch
from tiny_sources import export_of_mean, tiny_berts


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, minilm_folder: Path) -> Vouch:
    made = Vouch(tmp_path_factory.mktemp("library"), minilm_folder.parent)
    made.run("ingest", "--shared", made.write("handbook.md", HANDBOOK))
    return made


def with_cache_of_its_own(vouch: Vouch) -> Vouch:
    """The packaged encoder stays where it is; what is exported here does not go there."""
    shared = vouch.folder / "cache" / "vouch" / "encoders"
    there = shared.resolve()
    shared.unlink()
    shared.mkdir()
    for entry in there.iterdir():
        if entry.is_dir():
            (shared / entry.name).symlink_to(entry)
    shutil.copy(there / "index.json", shared)
    return vouch


def add_export(vouch: Vouch, source: Path) -> None:
    """To the cache, so that the copy of a small encoder at this place need not be exported."""
    encoders = vouch.folder / "cache" / "vouch" / "encoders"
    (entry,) = json.loads((export_of_mean() / "index.json").read_text()).values()
    shutil.copytree(export_of_mean() / entry["folder"], encoders / entry["folder"])
    known = json.loads((encoders / "index.json").read_text())
    (encoders / "index.json").write_text(json.dumps(known | {str(source): entry}))


def state(vouch: Vouch) -> dict[str, object]:
    return vouch.run("encoder", "--json").objects[0]


def test_another_encoder_is_built_beside_the_old_and_one_step_back_is_taken(
    library: Vouch, tmp_path: Path
) -> None:
    vouch = with_cache_of_its_own(library.copy_to(tmp_path))
    before = state(vouch)
    assert (before["previous"], before["wanted"]) == (None, before["live"])
    assert vouch.run("encoder", "--back", code=1).err.startswith("vouch: there is no encoder before")
    assert "in use already" in vouch.run("encoder", "--build").err

    source = Path(shutil.copytree(tiny_berts() / "mean", tmp_path / "tiny" / "mean"))
    add_export(vouch, source)
    vouch.set(f'[encoder]\nsource = "{source}"\n')
    asked = state(vouch)
    assert asked["live"] == before["live"]  # asking changes nothing
    assert asked["wanted"] != before["live"]
    assert f"search uses {asked['wanted']}" in vouch.run("encoder", "--build").err
    assert (state(vouch)["live"], state(vouch)["previous"]) == (asked["wanted"], before["live"])
    assert vouch.run("search", QUESTION).out  # by vectors of the new one

    assert f"Search uses {before['live']} again" in vouch.run("encoder", "--back").err
    assert (
        "10:00" in vouch.run("ask", QUESTION).out
    )  # a start that would go forward, had it not been declined
    after = state(vouch)
    assert (after["live"], after["declined"]) == (before["live"], asked["wanted"])
    vouch.run("encoder", "--build", "--back", code=2)

    shutil.rmtree(tmp_path / "tiny")
    shutil.rmtree(vouch.folder / "cache" / "vouch" / "encoders" / str(asked["wanted"]))
    refused = vouch.run("encoder", "--back", "--json", code=3).err
    assert "goes on with the encoder in use" in refused
    assert state(vouch)["live"] == before["live"]
    assert vouch.run("search", QUESTION).out


def test_halves_are_named_and_one_alone_can_be_had_and_left_again(library: Vouch, tmp_path: Path) -> None:
    vouch = library.copy_to(tmp_path)
    both = state(vouch)
    first, second = both["halves"]
    assert both["live"] == f"{first['version']}.{second['version']}.30"
    assert (first["share"], second["share"]) == (0.7, 0.3)
    assert f"half\t{second['version']}\t30% of what is stored" in vouch.run("encoder").out
    vouch.set('[encoder]\nsecond = "none"\n')
    assert vouch.run("ask", QUESTION).out
    alone = state(vouch)
    assert (alone["live"], alone["halves"]) == (first["version"], [])
    assert f"Search uses {both['live']} again" in vouch.run("encoder", "--back").err
    assert state(vouch)["halves"] == [first, second]
    assert vouch.run("ask", QUESTION).out
