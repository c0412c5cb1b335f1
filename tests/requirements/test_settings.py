"""Settings (L23): their defaults, ranges and codes, as the requirement names them."""

from __future__ import annotations

import re
from typing import Any

import pytest
from living import MakeMemory

from hippo_async import Settings
from hippo_async.config import ConfigError

MB = 1024 * 1024

SETTINGS: dict[str, tuple[Any, tuple[Any, ...], tuple[Any, ...]]] = {
    # the default, values at the edge of the range, and values just outside
    "dataDir": (None, ("/var/lib/hippo",), ("relative",)),
    "migrateFrom": (None, ("", "/old"), (7,)),
    "maintenanceCron": ("0 */6 * * *", ("0 0 29 2 *",), ("0 0 30 2 *", "* * * *", "soon")),
    **dict.fromkeys(("briefing", "promptSection", "autoMaintainOnBoot"), (True, (False,), (0, "true"))),
    **dict.fromkeys(("enableDream", "enableReflection"), (True, (False,), (0, "true"))),
    "dreamIdleMinutes": (180, (1, 525_600), (0, 525_601)),
    "graphMaxEdges": (500, (100, 2000), (99, 2001)),
    "storageBudgetMb": (50, (10, 1000), (9, 1001)),
    "decay.halfLifeDays": (30, (7, 365), (6, 366)),
    "activeSet.cap": (200, (100, 1000), (99, 1001)),
    "maxRecallTopK": (100, (20, 1000), (0, 1001)),
    "retrieval.topK": (20, (1, 100), (0, 101)),
    "context.maxTokens": (4000, (256, 1_000_000), (255, 1_000_001)),
    "context.threshold": (0.85, (0.71, 0.99), (0.7, 1.0)),
    "context.target": (0.7, (0.1, 0.84), (0.85,)),
    "context.injectPrompt": (True, (False,), (1,)),
    "temp.ttlDays": (30, (20,), (19,)),
    "temp.promotionWindowDays": (20, (30,), (31,)),
    "identity.eventTimePolicy": ("content", ("explicit", "ingest"), ("never",)),
    "raw.mode": ("salience", ("off", "all"), ("some",)),
    "raw.minSalience": (0.6, (0.0, 1.0), (-0.01, 1.01)),
    "raw.maxTurnKb": (64, (8, 1024), (7, 1025)),
    "raw.maxBytesPerDay": (8 * MB, (MB, 128 * MB), (MB - 1, 128 * MB + 1)),
    "raw.maxTotalMb": (256, (16, 4096), (15, 4097)),
    "raw.retentionDays": (30, (1, 365), (0, 366, 30.5)),
    "raw.maxScanMb": (16, (1, 256), (0, 257)),
    "raw.maxResultTokens": (1000, (50, 20_000), (49, 20_001)),
    "raw.autoCapture": (True, (False,), (0,)),
    "raw.captureTools": (False, (True,), (1,)),
    "delete.graceHours": (24, (0, 168), (-1, 169)),
    "review.enabled": (True, (False,), (0,)),
    "migration.timeoutMs": (600_000, (10_000, 3_600_000), (9_999, 3_600_001)),
}


def value_of(settings: Settings, key: str) -> Any:
    found: Any = settings.as_mapping(camel=True)
    for part in key.split("."):
        found = found[part]
    return found


async def test_l23_settings_have_these_defaults_and_ranges_at_the_start_and_while_open(
    make_memory: MakeMemory,
) -> None:
    for key, (default, inside, outside) in SETTINGS.items():
        assert value_of(Settings(), key) == default
        assert [value_of(Settings.from_mapping({key: value}), key) for value in inside] == list(inside)
        for value in outside:
            with pytest.raises(ConfigError, match=re.escape(key)):
                Settings.from_mapping({key: value})
    codes = {
        "MEM_E_CONFIG_INVALID_CRON": {"maintenanceCron": "0 0 30 2 *"},
        "MEM_E_CONFIG_OUT_OF_RANGE": {"raw.maxTurnKb": 7},
        "MEM_E_CONFIG_UNKNOWN_KEY": {"raw.maxTurns": 7},
    }
    async with make_memory() as memory:
        before = memory.settings
        for code, patch in codes.items():
            for refuse in (Settings.from_mapping, memory.configure):
                with pytest.raises(ConfigError) as refused:
                    await refuse(patch)  # type: ignore[misc]
                assert refused.value.code == code
        assert memory.settings == before
        assert (await memory.configure({"raw.maxTurnKb": 8})).raw.max_turn_kb == 8
