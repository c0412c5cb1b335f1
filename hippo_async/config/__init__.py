"""What can be set: keys, defaults, ranges, and one validator for all of it (L23).

It decides and touches nothing: :mod:`hippo_async.configuring` reads the environment and the file.
"""

from hippo_async.config.faults import (
    DUPLICATE_KEY,
    INVALID_CRON,
    INVALID_FILE,
    INVALID_TYPE,
    OUT_OF_RANGE,
    OVERRIDDEN,
    UNKNOWN_KEY,
)
from hippo_async.config.sections import (
    ActiveSetSettings,
    CaptureSettings,
    ContextSettings,
    DecaySettings,
    DeleteSettings,
    IdentitySettings,
    MigrationSettings,
    NoveltySettings,
    RawSettings,
    RetrievalSettings,
    ReviewSettings,
    TagSettings,
    TempSettings,
)
from hippo_async.config.settings import Settings
from hippo_async.errors import ConfigError

__all__ = [
    "DUPLICATE_KEY",
    "INVALID_CRON",
    "INVALID_FILE",
    "INVALID_TYPE",
    "OUT_OF_RANGE",
    "OVERRIDDEN",
    "UNKNOWN_KEY",
    "ActiveSetSettings",
    "CaptureSettings",
    "ConfigError",
    "ContextSettings",
    "DecaySettings",
    "DeleteSettings",
    "IdentitySettings",
    "MigrationSettings",
    "NoveltySettings",
    "RawSettings",
    "RetrievalSettings",
    "ReviewSettings",
    "Settings",
    "TagSettings",
    "TempSettings",
]
