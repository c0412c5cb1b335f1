"""``config.toml`` of the data directory is part of a backup, and put back with it."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

import pytest

from hippo_async import Hippocampus
from hippo_async.errors import IntegrityError, InvalidInput
from hippo_async.testing import ScriptedOps

if TYPE_CHECKING:
    from conftest import Home

MINE = "# mine\nbriefing = false\n"


@pytest.fixture
def configured(home: Home) -> Home:
    """A store with settings."""
    (home.data / "config.toml").write_text(MINE)
    return home


def test_settings_are_backed_up_and_put_back(configured: Home) -> None:
    report = configured.back_up()
    [entry] = [entry for entry in report.manifest.files if entry.name == "config.toml"]
    assert entry.size == len(MINE)
    configured.restored_to("again")
    restored = configured.at("again").data / "config.toml"
    assert restored.read_text() == MINE
    assert restored.stat().st_mode & 0o777 == 0o600


def test_without_settings_a_backup_has_none_and_those_that_are_there_stay(home: Home) -> None:
    home.back_up()
    assert not (home.backup / "config.toml").exists()
    again = home.at("again")
    again.data.mkdir()
    (again.data / "config.toml").write_text(MINE)
    home.restored_to("again")
    assert (again.data / "config.toml").read_text() == MINE


def test_settings_that_are_there_are_not_overwritten(configured: Home) -> None:
    configured.back_up()
    again = configured.at("again")
    again.data.mkdir()
    (again.data / "config.toml").write_text("briefing = true\n")
    with pytest.raises(InvalidInput, match=r"config\.toml"):
        configured.restored_to("again")
    assert [path.name for path in again.data.iterdir()] == ["config.toml"]
    assert (again.data / "config.toml").read_text() == "briefing = true\n"


@pytest.mark.parametrize("spoilt", ["# mine\nbriefing = true \n", None], ids=["changed", "gone"])
def test_settings_that_are_not_what_was_backed_up_are_noticed(configured: Home, spoilt: str | None) -> None:
    configured.back_up()
    file = configured.backup / "config.toml"
    file.unlink()
    if spoilt is not None:
        file.write_text(spoilt)
    with pytest.raises(IntegrityError) as raised:
        configured.restored_to("again")
    assert raised.value.path == file
    assert not (configured.at("again").data / "journal").exists()


def test_settings_laid_beside_a_backup_are_no_part_of_it(home: Home) -> None:
    home.back_up()
    (home.backup / "config.toml").write_text(MINE)
    home.restored_to("again")
    assert not (home.at("again").data / "config.toml").exists()


@pytest.mark.parametrize("name", ["config.toml", "CURRENT*"])
def test_a_copy_that_fails_leaves_no_settings_behind(configured: Home, name: str) -> None:
    ops = ScriptedOps(syncing=False)
    ops.fail("write", errno.ENOSPC, name=name)
    with pytest.raises(OSError, match="No space left"):
        configured.back_up(ops=ops)
    assert list(configured.backup.iterdir()) == []
    configured.back_up()
    ops = ScriptedOps(syncing=False)
    ops.fail("write", errno.ENOSPC, name=name)
    with pytest.raises(OSError, match="No space left"):
        configured.restored_to("again", ops=ops)
    assert list(configured.at("again").data.iterdir()) == []


async def test_what_is_configured_is_in_the_backup_of_an_open_memory(home: Home) -> None:
    async with Hippocampus(home.data, embedder="none", witness=home.witness, maintenance=False) as memory:
        await memory.configure({"raw.mode": "all"})
        await memory.backup(home.backup, with_keys=True)
    async with Hippocampus(home.backup, embedder="none", witness=None, maintenance=False) as memory:
        assert memory.settings.raw.mode == "all"
