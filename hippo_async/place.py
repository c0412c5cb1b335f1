"""Where a memory lies, whose it is, and what it works with."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from hippo_async.config import Settings
from hippo_async.files import Files
from hippo_async.protocols import Clock, EmbedderChoice


@dataclass(frozen=True, slots=True)
class Place:
    """Where a memory lies and whose it is."""

    data_dir: Path
    agent_id: str
    key: bytes | None
    key_file: Path | None
    witness: Path | None
    retired_keys: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True)
class Tools:
    """What a memory works with."""

    settings: Settings
    embedder: EmbedderChoice
    clock: Clock
    files: Files


def default_data_dir() -> Path:
    """``HIPPO_DATA_DIR``, or the platform's folder for user data."""
    named = os.environ.get("HIPPO_DATA_DIR")
    return Path(named) if named else platformdirs.user_data_path("hippo-async")


def place_of(data_dir: str | Path | None, settings: Settings | None) -> Path:
    """The directory that a caller names, itself or in settings of its own; else the default one."""
    if data_dir is None and settings is not None:
        data_dir = settings.data_dir
    return default_data_dir() if data_dir is None else Path(data_dir)


def default_witness() -> Path:
    """``HIPPO_WITNESS_DIR``, or the platform's folder for user state: outside the store on purpose."""
    named = os.environ.get("HIPPO_WITNESS_DIR")
    return Path(named) if named else platformdirs.user_state_path("hippo-async") / "witness"


def named_witness(witness: str | Path | None) -> Path | None:
    """The witness that a caller names: ``"default"`` is the default one, ``None`` none."""
    if witness is None:
        return None
    return default_witness() if witness == "default" else Path(witness)
