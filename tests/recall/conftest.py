"""An index that is opened, and opened again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hippo_async.files import Files
from hippo_async.index import Index


@pytest.fixture
def new_index(tmp_path: Path) -> Iterator[Callable[[], Index]]:
    """Open the index of the test's own folder; the one that was open before is closed."""
    made: list[Index] = []

    def make() -> Index:
        for index in made:
            index.close()
        made.append(Index(tmp_path, journal_id="j", generation=0, files=Files()))
        made[-1].open()
        return made[-1]

    yield make
    made[-1].close()
