"""The sections of the settings, each with defaults and ranges (L23)."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

from hippo_async.config.checks import Contradiction

MB = 1024 * 1024
CENTURY_DAYS = 36_500
"""Where the requirements name no upper bound for days: far enough, and no date overflows."""


class Section(BaseModel):
    """Frozen and strict; knows its names in snake_case and camelCase, and no others."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
    )


class CaptureSettings(Section):
    """The buffer in front of the disk (M2, L4)."""

    flush_turns: int = Field(default=10, ge=1, le=10_000)
    flush_seconds: float = Field(default=1.0, gt=0, le=60)
    buffer_turns: int = Field(default=10_000, ge=10, le=1_000_000)
    max_turn_kb: int = Field(default=4096, ge=8, le=8192)


class ContextSettings(Section):
    """The context window: when it is evicted from, and how far (M3, M4)."""

    max_tokens: int = Field(default=4000, ge=256, le=1_000_000)
    threshold: float = Field(default=0.85, gt=0, lt=1)
    target: float = Field(default=0.7, gt=0, lt=1)
    inject_prompt: bool = True

    @model_validator(mode="after")
    def _target_below_threshold(self) -> Self:
        if self.target >= self.threshold:
            raise Contradiction(("target", self.target), "must be below", ("threshold", self.threshold))
        return self


class RetrievalSettings(Section):
    """How many memories a recall returns when nothing is said."""

    top_k: int = Field(default=20, ge=1, le=1000)


class DecaySettings(Section):
    """After how many days half of what being new is worth in a recall is gone."""

    half_life_days: int = Field(default=30, ge=7, le=365)


class ActiveSetSettings(Section):
    """How many memories the active set holds (L14)."""

    cap: int = Field(default=200, ge=100, le=1000)


class TempSettings(Section):
    """Short-lived observations: how long they live, and within which time they may be promoted (L20)."""

    ttl_days: int = Field(default=30, ge=1, le=CENTURY_DAYS)
    promotion_window_days: int = Field(default=20, ge=1, le=CENTURY_DAYS)

    @model_validator(mode="after")
    def _promotion_within_life(self) -> Self:
        if self.promotion_window_days > self.ttl_days:
            raise Contradiction(
                ("promotion_window_days", self.promotion_window_days),
                "must not be above",
                ("ttl_days", self.ttl_days),
            )
        return self


class TagSettings(Section):
    """Whether a memory that is given no tags gets some."""

    automatic: bool = True


class NoveltySettings(Section):
    """How new a turn is held to be (J7, J8): by what was measured on real talk, or by the letter of both.

    Goes for turns that are captured after the memory was opened with it. A memory that is opened again knows
    the words of its last 1,000 records then, where the letter has all.
    """

    rule: Literal["measured", "literal"] = "measured"


class IdentitySettings(Section):
    """Where the time of an event is taken from, which is part of what it is (L22)."""

    event_time_policy: Literal["content", "explicit", "ingest"] = "content"


class RawSettings(Section):
    """The raw black box (L2-L10)."""

    mode: Literal["off", "salience", "all"] = "salience"
    min_salience: float = Field(default=0.6, ge=0, le=1)
    max_turn_kb: int = Field(default=64, ge=8, le=1024)
    max_bytes_per_day: int = Field(default=8 * MB, ge=MB, le=128 * MB)
    max_total_mb: int = Field(default=256, ge=16, le=4096)
    retention_days: int = Field(default=30, ge=1, le=365)
    max_scan_mb: int = Field(default=16, ge=1, le=256)
    max_result_tokens: int = Field(default=1000, ge=50, le=20_000)
    auto_capture: bool = True
    capture_tools: bool = False


class DeleteSettings(Section):
    """How long what was forgotten can be restored; 0 purges at once (L11)."""

    grace_hours: int = Field(default=24, ge=0, le=168)


class ReviewSettings(Section):
    """Whether memories come up for review (L12)."""

    enabled: bool = True


class MigrationSettings(Section):
    """How long moving the data directory may take (L13)."""

    timeout_ms: int = Field(default=600_000, ge=10_000, le=3_600_000)
