"""Where the files are: which of option, variable and default wins, and how directories are made."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from assistant.settings.locations import Locations, find_locations
from stores.base.errors import StoreUnavailable, WrongUsage


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
