"""Settings of an open memory: read when it opens, changed while it is open, kept in its file (L23)."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from hippo_async import Hippocampus, Settings
from hippo_async.config import OVERRIDDEN, UNKNOWN_KEY, ConfigError
from hippo_async.errors import Closed
from hippo_async.files import Files
from hippo_async.testing import FakeClock, ScriptedOps

MakeMemory = Callable[..., Hippocampus]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


def memory_at(store: Path, **options: Any) -> Hippocampus:
    return Hippocampus(store, embedder="none", witness=None, **options)


def file_of(store: Path) -> str:
    return (store / "config.toml").read_text()


def shards(store: Path) -> str:
    return "".join(shard.read_text() for shard in store.glob("raw/*.jsonl"))


def there(path: Path) -> bool:
    return path.exists()


def write(store: Path, text: str) -> None:
    store.mkdir(exist_ok=True)
    (store / "config.toml").write_text(text)


async def test_settings_are_read_when_the_memory_opens_and_not_before(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = memory_at(store)
    write(store, "[retrieval]\ntopK = 3\n")
    monkeypatch.setenv("HIPPO_RAW__MODE", "all")
    assert memory.settings == Settings()
    async with memory:
        assert (memory.settings.retrieval.top_k, memory.settings.raw.mode) == (3, "all")
        await memory.capture("The kettle is blue.")
    assert shards(store) != ""


async def test_settings_that_are_passed_in_count_alone(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(store, "this is no TOML")
    monkeypatch.setenv("HIPPO_BRIEFING", "false")
    async with memory_at(store, settings=Settings(max_recall_top_k=50)) as memory:
        assert memory.settings == Settings(max_recall_top_k=50)


async def test_a_wrong_setting_keeps_the_memory_closed_and_the_next_try_may_do(store: Path) -> None:
    write(store, "briefing = 5\n")
    memory = memory_at(store)
    with pytest.raises(ConfigError, match="briefing"):
        await memory.open()
    assert not memory.is_open
    assert not there(store / "journal")
    write(store, "briefing = false\n")
    async with memory:
        assert memory.settings.briefing is False


def test_a_directory_is_where_the_argument_says_then_the_settings(tmp_path: Path) -> None:
    settings = Settings(data_dir=str(tmp_path / "set"))
    assert Hippocampus(settings=settings).data_dir == tmp_path / "set"
    assert Hippocampus(tmp_path / "said", settings=settings).data_dir == tmp_path / "said"
    assert Hippocampus(settings=Settings()).data_dir == tmp_path / "default-store"


async def test_a_change_holds_at_once_and_at_the_next_opening(store: Path) -> None:
    async with memory_at(store) as memory:
        changed = await memory.configure({"raw.maxResultTokens": 500, "retrieval": {"top_k": 1}})
        assert changed == memory.settings
        assert (changed.raw.max_result_tokens, changed.retrieval.top_k) == (500, 1)
        for text in ("The blue kettle.", "The blue pan."):
            await memory.record(text)
        assert len(await memory.recall("blue")) == 1
    async with memory_at(store) as again:
        assert again.settings == changed


async def test_changes_add_up_and_comments_stay(store: Path) -> None:
    write(store, "# mine\nbriefing = false\n")
    async with memory_at(store) as memory:
        await memory.configure({"raw.mode": "all"})
        await memory.configure({"raw.mode": "off", "tags.automatic": False})
        assert memory.settings == Settings.from_mapping(
            {"briefing": False, "raw.mode": "off", "tags.automatic": False}
        )
    assert file_of(store).startswith("# mine\nbriefing = false\n")


@pytest.mark.parametrize(
    "patch",
    [
        {"raw.mode": "all", "raw.maxTurnKb": 1},
        {"raw.mode": "all", "raw.maxTurn": 8},
        {"raw.mode": "all", "retrieval.topK": 101},
        {"raw.mode": "all", "maintenanceCron": "0 0 30 2 *"},
        {"raw.mode": "all", "dataDir": "/somewhere/else"},
    ],
)
async def test_a_refused_change_changes_nothing(store: Path, patch: dict[str, Any]) -> None:
    write(store, "briefing = false\n")
    async with memory_at(store) as memory:
        before = memory.settings
        with pytest.raises(ConfigError):
            await memory.configure(patch)
        assert memory.settings is before
    assert file_of(store) == "briefing = false\n"


async def test_whoever_names_another_directory_is_told_how_a_memory_gets_there(store: Path) -> None:
    async with memory_at(store) as memory:
        with pytest.raises(ConfigError, match=r"memory\.migrate\(\), hippo migrate"):
            await memory.configure({"data_dir": "/somewhere/else"})


async def test_a_disk_that_fails_changes_nothing(store: Path) -> None:
    ops = ScriptedOps()
    async with memory_at(store, files=Files(ops)) as memory:
        before = memory.settings
        ops.fail("replace", errno.ENOSPC, name="config.toml*")
        with pytest.raises(OSError, match="No space left"):
            await memory.configure({"raw.mode": "all"})
        assert memory.settings is before
        assert not there(store / "config.toml")


async def test_what_the_environment_sets_cannot_be_changed_behind_it(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HIPPO_RAW__MODE", "all")
    async with memory_at(store) as memory:
        with pytest.raises(ConfigError, match="HIPPO_RAW__MODE") as caught:
            await memory.configure({"raw": {"mode": "off"}})
        assert (caught.value.key, caught.value.code) == ("raw.mode", OVERRIDDEN)
        await memory.configure({"raw.minSalience": 0.1})
        assert memory.settings.raw.mode == "all"
    assert "mode" not in file_of(store)


async def test_a_file_that_somebody_broke_meanwhile_is_left_as_it_is(store: Path) -> None:
    async with memory_at(store) as memory:
        write(store, "breifing = false\n")
        with pytest.raises(ConfigError, match=r"did you mean 'briefing'\? \(in .*config.toml\)") as caught:
            await memory.configure({"raw.mode": "all"})
        assert caught.value.code == UNKNOWN_KEY
        assert memory.settings == Settings()
    assert file_of(store) == "breifing = false\n"


async def test_the_named_file_is_the_one_that_is_changed(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = tmp_path / "named.toml"
    named.write_text("briefing = false\n")
    monkeypatch.setenv("HIPPO_CONFIG", str(named))
    async with memory_at(store) as memory:
        await memory.configure({"raw.mode": "all"})
    assert named.read_text().startswith("briefing = false\n")
    assert 'mode = "all"' in named.read_text()
    assert not there(store / "config.toml")


async def test_the_file_is_closed_to_others(store: Path) -> None:
    async with memory_at(store) as memory:
        await memory.configure({"raw.mode": "all"})
    assert (store / "config.toml").stat().st_mode & 0o777 == 0o600


async def test_the_present_directory_may_be_named_and_is_not_kept(store: Path) -> None:
    async with memory_at(store) as memory:
        await memory.configure({"dataDir": str(store), "raw.mode": "all"})
    assert "data" not in file_of(store)


async def test_null_goes_back_to_the_default(store: Path) -> None:
    write(store, 'migrateFrom = "/old"\n')
    async with memory_at(store) as memory:
        assert (await memory.configure({"migrate_from": None})).migrate_from is None
    async with memory_at(store) as again:
        assert again.settings.migrate_from is None


async def test_many_changes_at_once_are_all_kept(store: Path) -> None:
    patches: list[dict[str, Any]] = [
        {"raw.mode": "all"},
        {"briefing": False},
        {"delete.graceHours": 1},
        {"activeSet.cap": 150},
        {"tags.automatic": False},
        {"decay.halfLifeDays": 7},
    ]
    async with memory_at(store) as memory:
        await asyncio.gather(*(memory.configure(patch) for patch in patches))
        changed = memory.settings
    async with memory_at(store) as again:
        assert (
            again.settings == changed == Settings.from_mapping({k: v for p in patches for k, v in p.items()})
        )


async def test_a_change_whose_caller_is_cancelled_is_made_whole(store: Path) -> None:
    ops = ScriptedOps()
    async with memory_at(store, files=Files(ops)) as memory:
        gate = ops.hold("replace", name="config.toml*")
        changing = asyncio.create_task(memory.configure({"raw.mode": "all"}))
        await asyncio.to_thread(gate.wait_reached)
        changing.cancel()
        gate.open()
        with pytest.raises(asyncio.CancelledError):
            await changing
        await memory.configure({})  # comes after it
        assert memory.settings.raw.mode == "all"
    assert 'mode = "all"' in file_of(store)


async def test_a_closed_memory_is_not_configured(store: Path) -> None:
    with pytest.raises(Closed):
        await memory_at(store).configure({"raw.mode": "all"})
    assert not there(store)


async def test_the_black_box_follows_a_change(make_memory: MakeMemory, store: Path) -> None:
    async with make_memory(settings=Settings.from_mapping({"raw": {"mode": "off"}})) as memory:
        await memory.capture("before")
        await memory.configure({"raw.mode": "all"})
        await memory.capture("between")
        await memory.configure({"raw.autoCapture": False})
        await memory.capture("after")
    assert [text for text in ("before", "between", "after") if text in shards(store)] == ["between"]


async def test_the_buffer_follows_a_change(make_memory: MakeMemory) -> None:
    slow = Settings.from_mapping({"capture": {"flush_turns": 10_000, "flush_seconds": 60.0}})
    async with make_memory(clock=FakeClock(), settings=slow) as memory:
        await memory.configure({"capture.flushTurns": 2})
        receipts = [memory.capture("one"), memory.capture("two")]
        assert [record.content for record in await asyncio.gather(*receipts)] == ["one", "two"]


async def test_how_fast_being_new_stops_counting_follows_a_change(make_memory: MakeMemory) -> None:
    clock = FakeClock()
    async with make_memory(clock=clock, settings=Settings()) as memory:
        await memory.record("The kettle is blue.", timestamp=clock.now() - timedelta(days=60))
        [before] = await memory.recall("kettle")
        await memory.configure({"decay.halfLifeDays": 7})
        [after] = await memory.recall("kettle")
    assert after.why["recency"] < before.why["recency"]


async def test_briefings_follow_a_change(make_memory: MakeMemory) -> None:
    async with make_memory() as memory:
        await memory.capture("My sister Vera is allergic to walnuts.")
        await memory.flush()
        assert "walnuts" in (await memory.brief("what is Vera allergic to?")).text
        await memory.configure({"briefing": False})
        assert (await memory.brief("what is Vera allergic to?")).text == ""


@pytest.mark.parametrize("source", ["settings", "file", "environment", "patch"])
async def test_a_time_zone_that_this_machine_does_not_know_is_refused_from_wherever_it_comes(
    store: Path, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    options = {"settings": Settings(time_zone="Mars/Olympus")} if source == "settings" else {}
    if source == "file":
        write(store, 'timeZone = "Mars/Olympus"\n')
    if source == "environment":
        monkeypatch.setenv("HIPPO_TIME_ZONE", "Mars/Olympus")
    memory = memory_at(store, **options)
    with pytest.raises(ConfigError, match="there is no time zone 'Mars/Olympus'") as refused:
        async with memory:
            await memory.configure({"timeZone": "Mars/Olympus"})
    assert (refused.value.code, refused.value.value) == ("MEM_E_CONFIG_OUT_OF_RANGE", "Mars/Olympus")
    assert memory.settings.time_zone == ("Mars/Olympus" if source == "settings" else "UTC")


async def test_days_that_a_question_names_are_those_of_the_zone_that_is_set(
    store: Path,
) -> None:
    """Noon in Greenwich on 3 March: "yesterday" ended there twelve hours ago, and in Kiritimati 22."""
    clock = FakeClock(datetime(2026, 3, 3, 12, tzinfo=UTC))
    async with memory_at(store, clock=clock, maintenance=False) as memory:
        for hour in (8, 22):
            at = datetime(2026, 3, 2, hour, tzinfo=UTC)
            await memory.record(f"A boat came by, the {hour} boat.", role="user", timestamp=at)

        async def dated() -> list[bool]:
            found = sorted(await memory.recall("Which boat came yesterday?"), key=lambda hit: hit.record.seq)
            return [hit.why.get("time", 0) == max(hit.why.get("time", 0) for hit in found) for hit in found]

        assert await dated() == [True, True]
        await memory.configure({"time_zone": "Pacific/Kiritimati"})
        assert await dated() == [False, True]
