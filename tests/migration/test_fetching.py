"""``migrate_from``: a memory that is opened where there is none comes from where it lay before."""

from __future__ import annotations

import errno
import logging
import os
import shutil
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from directories import contents
from movers import CHILD, another_process
from nursery import running_nursery

from hippo_async import Hippocampus, Settings, blocking
from hippo_async.errors import (
    ForeignJournal,
    HippoError,
    InvalidInput,
    JournalLocked,
    KeyFileError,
    MigrationFailed,
    MigrationLocked,
    StoreMoved,
)
from hippo_async.files import Files
from hippo_async.migration.old import old_directories
from hippo_async.testing import FakeClock, ScriptedOps

if TYPE_CHECKING:
    from conftest import Old

LONG = os.environ.get("HIPPO_LONG") == "1"


def new_memory(old: Old, **options: Any) -> Hippocampus:
    """A memory at the new place, which knows where the old one is."""
    usual: dict[str, Any] = {
        "embedder": "none",
        "witness": old.witness,
        "maintenance": False,
        "settings": Settings(migrate_from=str(old.data)),
        "files": Files(ScriptedOps(syncing=False)),
        "clock": FakeClock(),
    }
    return Hippocampus(old.target, **(usual | options))


def found_by(memory: Hippocampus, query: str = "kettle") -> list[str]:
    """Open it, ask it, add to it, close it."""
    with memory:
        found = [hit.record.text for hit in blocking(memory.recall)(query)]
        blocking(memory.record)("and on")
        return found


def write_settings(old: Old, text: str) -> None:
    old.target.mkdir(exist_ok=True)
    (old.target / "config.toml").write_text(text)


@pytest.fixture
def homes(old: Old, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which old names are looked for; the memory lies under one of them."""
    user = old.base / "user"
    monkeypatch.setenv("HOME", str(user))
    monkeypatch.setenv("XDG_DATA_HOME", str(user / "share"))
    user.mkdir()
    shutil.copytree(old.data, user / ".hippo")
    return user


def test_a_memory_is_fetched_from_the_directory_that_is_named(old: Old) -> None:
    texts = old.texts()
    assert found_by(new_memory(old)) == ["The kettle is blue."]
    assert old.moved().texts() == [*texts, "and on"]
    with pytest.raises(StoreMoved):
        old.add("too late")
    assert found_by(new_memory(old), "on") == ["and on"], "once"


def test_or_from_the_first_one_under_an_old_name(old: Old, homes: Path) -> None:
    assert found_by(new_memory(old, settings=Settings(migrate_from=""))) == ["The kettle is blue."]
    assert (homes / ".hippo/MOVED").exists()
    assert old_directories()[0] == homes / "share/hippo_async"


def test_without_the_setting_nothing_is_looked_for(old: Old, homes: Path) -> None:
    assert found_by(new_memory(old, settings=Settings())) == []
    assert not (homes / ".hippo/MOVED").exists()


def test_the_environment_may_name_it_and_its_settings_come_along(
    old: Old, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HIPPO_MIGRATE_FROM", str(old.data))
    memory = new_memory(old, settings=None)
    assert found_by(memory) == ["The kettle is blue."]
    assert memory.settings.briefing is False
    assert (old.target / "config.toml").read_text() == "briefing = false\n"


def test_so_may_a_file_in_the_new_directory_which_stays_as_it_is(old: Old) -> None:
    mine = f'migrate_from = "{old.data}"\n'
    write_settings(old, mine)
    memory = new_memory(old, settings=None)
    assert found_by(memory) == ["The kettle is blue."]
    assert memory.settings.briefing is True
    assert (old.target / "config.toml").read_text() == mine


def test_a_file_may_have_old_names_looked_for_beside_it(old: Old, homes: Path) -> None:
    write_settings(old, 'migrate_from = ""\n')
    assert found_by(new_memory(old, settings=None)) == ["The kettle is blue."]


def test_a_memory_that_is_there_stays_as_it_is(old: Old) -> None:
    assert found_by(new_memory(old, settings=Settings())) == []
    assert found_by(new_memory(old)) == []
    assert not (old.data / "MOVED").exists()


@pytest.mark.parametrize("named", [True, False], ids=["named", "old names"])
def test_where_there_is_none_to_fetch_a_memory_begins(
    old: Old, homes: Path, caplog: pytest.LogCaptureFixture, named: bool
) -> None:
    shutil.rmtree(homes / ".hippo")
    with caplog.at_level(logging.WARNING):
        settings = Settings(migrate_from=str(old.base / "nowhere") if named else "")
        assert found_by(new_memory(old, settings=settings)) == []
    assert ("there is no memory in" in caplog.text) is named


def test_one_that_went_elsewhere_is_not_begun_anew(old: Old) -> None:
    old.move()
    shutil.move(old.target, old.base / "elsewhere")
    with pytest.raises(StoreMoved):
        found_by(new_memory(old))
    assert not old.target.exists()


@pytest.mark.timeout(3600 if LONG else 120)
def test_whichever_call_fails_the_next_opening_has_the_memory(small: Old) -> None:
    """Every 29th call, in full with ``HIPPO_LONG``."""
    old, at, failed = small, 1, 0
    start = old.base / "start"
    shutil.copytree(old.data, start)
    old.add("Said before.")
    shutil.rmtree(start)
    shutil.copytree(old.data, start)
    while True:
        ops = ScriptedOps(syncing=False)
        rule = ops.fail("*", errno.EIO, at=at)
        try:
            with new_memory(old, files=Files(ops)):
                pass
        except (OSError, HippoError):
            failed += 1
        found_by(new_memory(old))
        assert old.moved().texts() == ["Said before.", "and on"], f"call {at}"
        if not rule.fired:
            break
        for place in (old.data, old.target, old.witness):
            shutil.rmtree(place)
        shutil.copytree(start, old.data)
        at += 1 if LONG else 29
    assert failed > 5


def test_one_that_fails_leaves_nothing_behind_but_the_settings(old: Old) -> None:
    mine = f'migrate_from = "{old.data}"\n'
    write_settings(old, mine)
    before = contents(old.data)
    ops = ScriptedOps(syncing=False)
    ops.fail("write", errno.ENOSPC, name="index.sqlite")
    with pytest.raises(MigrationFailed, match="still in"), new_memory(old, settings=None, files=Files(ops)):
        pass
    assert contents(old.target) == {"config.toml": mine.encode()}
    assert contents(old.data) == before


@pytest.mark.process
@pytest.mark.timeout(3600 if LONG else 600)
@pytest.mark.parametrize("named", [True, False], ids=["named", "old names"])
def test_whichever_call_a_process_dies_at_the_next_opening_has_the_memory_and_its_settings(
    old: Old, homes: Path, named: bool
) -> None:
    """Every 41st call, in full with ``HIPPO_LONG``."""
    source = old.data if named else homes / ".hippo"
    mine = f'migrate_from = "{source if named else ""}"\n'
    start = old.base / "start"
    shutil.copytree(source, start)
    deaths = 0
    with running_nursery(CHILD, "fetch", old.base) as nursery:
        for call in count(1, 1 if LONG else 41):
            write_settings(old, mine)
            if not nursery.let_die(call)[1]:
                break
            assert found_by(new_memory(old, settings=None)) == ["The kettle is blue."], f"call {call}"
            assert (old.target / "config.toml").read_text() == mine, f"call {call}"
            for place in (source, old.target, old.witness):
                shutil.rmtree(place)
            shutil.copytree(start, source)
            deaths += 1
    assert deaths > 5


@pytest.mark.process
def test_while_another_process_moves_it_the_opening_is_refused(old: Old) -> None:
    with another_process(old.base) as process:
        with pytest.raises(MigrationLocked, match=f"process {process.pid} on "), new_memory(old):
            pass
        process.communicate("")
    assert found_by(new_memory(old)) == ["The kettle is blue."]


def test_a_move_from_somewhere_else_that_was_cut_short_is_nobody_elses(old: Old) -> None:
    ops = ScriptedOps(syncing=False)
    ops.fail("*", errno.EIO, at=60, lasting=True)
    with pytest.raises(OSError, match="Input/output"):
        old.move(ops=ops)
    settings = Settings(migrate_from=str(old.base / "another"))
    with pytest.raises(MigrationLocked, match="hippo migrate"), new_memory(old, settings=settings):
        pass


def test_an_old_memory_that_is_open_is_not_taken_away(old: Old) -> None:
    with Hippocampus(old.data, embedder="none", witness=old.witness, maintenance=False) as before:
        with pytest.raises(JournalLocked), new_memory(old):
            pass
        blocking(before.record)("and on")
    assert not old.target.exists()


def test_nor_is_one_put_where_something_else_is(old: Old) -> None:
    old.target.mkdir()
    (old.target / "diary").write_text("mine")
    with pytest.raises(InvalidInput, match="diary"), new_memory(old):
        pass


def test_nor_is_the_memory_of_another_agent_taken(old: Old) -> None:
    with pytest.raises(ForeignJournal), new_memory(old, agent_id="somebody"):
        pass
    assert not old.target.exists()


def test_a_file_that_names_the_old_directory_is_said_when_it_is_read(old: Old) -> None:
    (old.data / "config.toml").write_text(f'data_dir = "{old.data}"\n')
    write_settings(old, f'migrate_from = "{old.data}"\n')
    assert found_by(new_memory(old, settings=None)) == ["The kettle is blue."], "its own file counts"


@pytest.mark.parametrize("where", ["old", "new", "elsewhere"])
def test_the_key_is_found_where_it_is_named(old: Old, where: str) -> None:
    folders = {"old": old.data, "new": old.target, "elsewhere": old.base / "keys"}
    if where == "elsewhere":
        folders[where].mkdir()
        for name in ("agent.key", "agent.key.1"):
            (old.data / name).rename(folders[where] / name)
    assert found_by(new_memory(old, key_file=folders[where] / "agent.key")) == ["The kettle is blue."]
    assert (old.target / "agent.key.1").exists() is (where != "elsewhere")


def test_without_its_key_it_is_not_fetched(old: Old) -> None:
    (old.data / "agent.key").unlink()
    with pytest.raises(KeyFileError), new_memory(old):
        pass
    assert not old.target.exists()
