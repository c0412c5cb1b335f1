"""What no bound can say of a setting. Each check returns the value as it is, or raises ``ValueError``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePath
from typing import Any

CRON_FIELDS = 5
_ZONE = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(?:/[A-Za-z0-9_+-]+){0,3}")
ANY_DAY = datetime(2000, 1, 1)  # noqa: DTZ001 - an expression fires or not in whatever time zone


@dataclass(frozen=True, slots=True)
class Takes:
    """Says in words what a setting takes, where its type and bounds do not."""

    words: str


class BadCron(ValueError):
    """An expression that no scheduler could follow."""


class Contradiction(ValueError):
    """Two settings of one section that do not go together; ``names`` are theirs, as fields."""

    def __init__(self, first: tuple[str, Any], relation: str, second: tuple[str, Any]) -> None:
        super().__init__(f"{first[0]} {first[1]} {relation} {second[0]} {second[1]}")
        self.names: tuple[str, str] = (first[0], second[0])
        self.values: tuple[Any, Any] = (first[1], second[1])
        self.relation = relation


def firing(expression: str) -> str:
    """Refuse a cron expression that is malformed or, as ``0 0 30 2 *``, has no day on which it fires."""
    from cronsim import CronSim, CronSimError

    if len(expression.split()) != CRON_FIELDS:
        raise BadCron(f"it has {len(expression.split())} fields")
    try:
        next(CronSim(expression, ANY_DAY))
    except CronSimError as error:
        raise BadCron(str(error).lower()) from None
    except StopIteration:
        raise BadCron("it never fires") from None
    return expression


def absolute(path: str | None) -> str | None:
    """Refuse a path that means another folder in each process that reads it."""
    if path is not None and not PurePath(path).is_absolute():
        raise ValueError("it is not absolute")
    return path


def nameable(path: str | None) -> str | None:
    """Refuse what no file system has a name for."""
    if path is not None and "\0" in path:
        raise ValueError("it holds a NUL character")
    return path


def zone_like(name: str) -> str:
    """Refuse what cannot be the name of a time zone. Whether there is one says the disk, at the next open."""
    if not _ZONE.fullmatch(name):
        raise ValueError("it is no time zone")
    return name
