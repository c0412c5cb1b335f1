"""All settings as one value, and the one validator behind start and hot update (L23).

Names are snake_case in Python; the camelCase spelling of the requirements is accepted in mappings, and so
are dotted keys. Values are never rounded or converted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field, TypeAdapter, ValidationError, model_validator

from hippo_async.config import checks
from hippo_async.config.checks import Contradiction, Takes
from hippo_async.config.faults import code_of, first_fault, shown, takes
from hippo_async.config.names import Given, Key, Names, nested
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
    Section,
    TagSettings,
    TempSettings,
)
from hippo_async.errors import ConfigError

DataDir = Annotated[
    str | None,
    AfterValidator(checks.absolute),
    AfterValidator(checks.nameable),
    Takes("an absolute path, or null for the platform's folder"),
]
Source = Annotated[
    str | None,
    AfterValidator(checks.nameable),
    Takes("a path; empty, so that old names are looked for; or null"),
]
Zone = Annotated[
    str,
    AfterValidator(checks.zone_like),
    Takes("the name of a time zone, such as 'UTC' or 'Europe/Berlin'"),
]
Cron = Annotated[
    str,
    AfterValidator(checks.firing),
    Takes("five cron fields (minute hour day month weekday) that fire some day, such as '0 */6 * * *'"),
]


class Settings(Section):
    """All that can be set, with its defaults.

    Built with keyword arguments it is as strict, and raises pydantic's ``ValidationError``; what comes from
    files, forms and programs goes through :meth:`from_mapping` and :meth:`patched`.
    """

    data_dir: DataDir = None
    migrate_from: Source = None
    time_zone: Zone = "UTC"
    maintenance_cron: Cron = "0 */6 * * *"
    briefing: bool = True
    prompt_section: bool = True
    auto_maintain_on_boot: bool = True
    enable_dream: bool = True
    dream_idle_minutes: int = Field(default=180, ge=1, le=525_600)
    enable_reflection: bool = True
    graph_max_edges: int = Field(default=500, ge=100, le=2000)
    storage_budget_mb: int = Field(default=50, ge=10, le=1000)
    max_recall_top_k: int = Field(default=100, ge=1, le=1000)
    capture: CaptureSettings = CaptureSettings()
    context: ContextSettings = ContextSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    decay: DecaySettings = DecaySettings()
    active_set: ActiveSetSettings = ActiveSetSettings()
    temp: TempSettings = TempSettings()
    tags: TagSettings = TagSettings()
    novelty: NoveltySettings = NoveltySettings()
    identity: IdentitySettings = IdentitySettings()
    raw: RawSettings = RawSettings()
    delete: DeleteSettings = DeleteSettings()
    review: ReviewSettings = ReviewSettings()
    migration: MigrationSettings = MigrationSettings()

    @model_validator(mode="after")
    def _top_k_within_maximum(self) -> Self:
        if self.retrieval.top_k > self.max_recall_top_k:
            raise Contradiction(
                ("retrieval.top_k", self.retrieval.top_k),
                "must not be above",
                ("max_recall_top_k", self.max_recall_top_k),
            )
        return self

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Settings:
        """Build settings from a mapping, nested as a TOML file is or with dotted keys, in either spelling.

        Raises :class:`ConfigError` for the first key that is unknown or whose value is not allowed; nothing
        is taken then.
        """
        return validated(NAMES.flat(values))

    def patched(self, patch: Mapping[str, Any]) -> Settings:
        """Return these settings with some changed; the patch is a mapping as :meth:`from_mapping` takes.

        Raises :class:`ConfigError` as that does. These settings are never changed.
        """
        return validated(NAMES.flat(patch), base=self)

    def as_mapping(self, *, camel: bool = False) -> dict[str, Any]:
        """Return all settings as nested plain values, in snake_case or in the HTTP API's camelCase."""
        return self.model_dump(by_alias=camel)


NAMES: Names = Names(Settings)


def validated(given: Mapping[Key, Given], *, base: Settings | None = None) -> Settings:
    """The one validator: defaults or ``base`` with what was given on top. Raises :class:`ConfigError`."""
    before = {} if base is None else values_of(base)
    values = before | {key: one.value for key, one in given.items()}
    try:
        return Settings.model_validate(nested(values))
    except ValidationError as error:
        raise first_fault(error, given, NAMES.fields) from None


def values_of(settings: Settings) -> dict[Key, Any]:
    """Return every setting by its dotted key."""
    return {key: one.value for key, one in NAMES.flat(settings.as_mapping()).items()}


def from_text(key: Key, text: str, *, spelled: str) -> Any:
    """Read a value that is given as text, by the type of its setting; bounds are not checked here.

    Raises :class:`ConfigError` under the name that was ``spelled``.
    """
    field = NAMES.fields[key]
    kind: Any = field.annotation
    try:
        return TypeAdapter(kind).validate_strings(text, strict=True)
    except ValidationError as error:
        code = code_of(error.errors()[0]["type"])
        reason = f"{shown(text)} is not allowed; it takes {takes(field)}"
        raise ConfigError(spelled, reason, code=code, value=text) from None
