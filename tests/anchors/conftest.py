"""A ledger in a folder of its own, a local server, and a local time-stamping authority."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from anchored_days import ledger_in
from local_authority import Authority
from local_server import LocalServer, serving

from hippo_async.anchors import Ledger


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """A ledger of which nothing is there yet."""
    return ledger_in(tmp_path / "store")


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def server() -> Iterator[LocalServer]:
    """A server that says yes to everything until a test tells it otherwise."""
    with serving() as local:
        yield local


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority.made(tmp_path_factory.mktemp("tsa") / "authority", "authority")


@pytest.fixture(scope="session")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority.made(tmp_path_factory.mktemp("tsa") / "stranger", "stranger")
