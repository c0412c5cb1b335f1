"""Settings, validated once and never rounded (L23).

Names are snake_case in Python; the camelCase spelling of the requirements is accepted in mappings.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from hippo_async.errors import ConfigError

_UNKNOWN_KEY = "MEM_E_CONFIG_UNKNOWN_KEY"


class _Section(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
    )


class CaptureSettings(_Section):
    """The buffer in front of the disk (M2, L4)."""

    flush_turns: int = Field(default=10, ge=1, le=10_000)
    flush_seconds: float = Field(default=1.0, gt=0, le=60)
    buffer_turns: int = Field(default=10_000, ge=10, le=1_000_000)
    max_turn_kb: int = Field(default=4096, ge=8, le=8192)


class ContextSettings(_Section):
    """The context window: when it is evicted from, and how far (M3, M4)."""

    max_tokens: int = Field(default=4000, ge=256, le=1_000_000)
    threshold: float = Field(default=0.85, gt=0, lt=1)
    target: float = Field(default=0.7, gt=0, lt=1)
    inject_prompt: bool = True

    @model_validator(mode="after")
    def _target_below_threshold(self) -> Self:
        if self.target >= self.threshold:
            raise ValueError(f"target {self.target} must be below threshold {self.threshold}")
        return self


class RetrievalSettings(_Section):
    """How many memories a recall returns when nothing is said."""

    top_k: int = Field(default=20, ge=1, le=1000)


class DecaySettings(_Section):
    """After how many days half of what being new is worth in a recall is gone."""

    half_life_days: int = Field(default=30, ge=7, le=365)


class RawSettings(_Section):
    """The raw black box (L2-L10)."""

    mode: Literal["off", "salience", "all"] = "salience"
    min_salience: float = Field(default=0.6, ge=0, le=1)
    max_turn_kb: int = Field(default=64, ge=8, le=1024)
    max_bytes_per_day: int = Field(default=8 * 1024 * 1024, ge=1024 * 1024, le=128 * 1024 * 1024)
    max_total_mb: int = Field(default=256, ge=16, le=4096)
    max_scan_mb: int = Field(default=16, ge=1, le=256)
    max_result_tokens: int = Field(default=1000, ge=50, le=20_000)
    auto_capture: bool = True
    capture_tools: bool = False


class MigrationSettings(_Section):
    """Moving the data directory (L13)."""

    timeout_ms: int = Field(default=600_000, ge=10_000, le=3_600_000)


class Settings(_Section):
    """All that can be set, with its defaults."""

    briefing: bool = True
    max_recall_top_k: int = Field(default=100, ge=1, le=1000)
    capture: CaptureSettings = CaptureSettings()
    context: ContextSettings = ContextSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    decay: DecaySettings = DecaySettings()
    raw: RawSettings = RawSettings()
    migration: MigrationSettings = MigrationSettings()

    @model_validator(mode="after")
    def _top_k_within_maximum(self) -> Self:
        if self.retrieval.top_k > self.max_recall_top_k:
            raise ValueError(
                f"retrieval.top_k {self.retrieval.top_k} is above max_recall_top_k {self.max_recall_top_k}"
            )
        return self

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Settings:
        """Build settings from a nested mapping, such as a TOML file holds.

        Raises :class:`ConfigError` for the first key that is unknown or out of range; nothing is taken then.
        """
        try:
            return cls.model_validate(dict(values))
        except ValidationError as error:
            raise _first_fault(error) from None


def _first_fault(error: ValidationError) -> ConfigError:
    fault = error.errors()[0]
    key = ".".join(str(part) for part in fault["loc"]) or "settings"
    if fault["type"] == "extra_forbidden":
        near = difflib.get_close_matches(str(fault["loc"][-1]), _known_names(), n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        return ConfigError(key, f"there is no such setting{hint}", code=_UNKNOWN_KEY)
    return ConfigError(key, f"{fault['msg']} (got {fault['input']!r})")


def _known_names() -> list[str]:
    sections: list[type[BaseModel]] = [
        Settings,
        CaptureSettings,
        ContextSettings,
        RetrievalSettings,
        DecaySettings,
        RawSettings,
        MigrationSettings,
    ]
    return [
        spelling
        for section in sections
        for name in section.model_fields
        for spelling in (name, to_camel(name))
    ]
