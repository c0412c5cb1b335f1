"""What a model says when it calls a memory tool: every argument with what it is for."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from hippo_async.asking import Mode

Question = Literal[
    "status", "active_tags", "active_task", "semantic", "reviews", "pending_deletes", "maintain"
]
"""What ``admin_memory`` can be asked, or told to do."""


class RememberArguments(BaseModel):
    """What ``remember_memory`` takes."""

    text: str = Field(
        description="The fact to keep, as one self-contained sentence: who, what, when.", min_length=1
    )
    tags: list[str] = Field(
        default_factory=list, description="A few lower-case keywords to find it by, or none."
    )


class DatedArguments(RememberArguments):
    """What it takes where a model has more tools than the basic ones."""

    occurred: str = Field(default="", description="When it happened, YYYY-MM-DD. Empty if it is of no day.")


class RecallArguments(BaseModel):
    """What ``recall_memory`` takes."""

    query: str = Field(
        description="What to look for: the words or names that the memory would contain.", min_length=1
    )
    tags: list[str] = Field(
        default_factory=list, description="Only memories that carry these tags. Usually empty."
    )
    since: str = Field(default="", description="First day, YYYY-MM-DD. Usually empty.")
    until: str = Field(default="", description="Last day, YYYY-MM-DD. Usually empty.")
    limit: int = Field(default=5, ge=1, le=20, description="How many memories to return at most.")


class VerbatimArguments(RecallArguments):
    """What it takes where a model may have turns quoted word for word."""

    mode: Mode = Field(
        default="memories",
        description="'memories' finds by words and meaning. 'deep_raw' quotes what was said that holds every "
        "word of the query, and needs since and until.",
    )


class CheckpointArguments(BaseModel):
    """What ``checkpoint_memory`` takes."""

    task: str = Field(description="A short name of the task, the same each time.", min_length=1)
    text: str = Field(description="What is done and what comes next, in a sentence or two.", min_length=1)
    progress: int = Field(default=0, ge=0, le=100, description="How much is done, in percent; 100 ends it.")


class CaptureArguments(BaseModel):
    """What ``capture_memory`` takes."""

    text: str = Field(description="What was said, word for word.", min_length=1)
    role: Literal["user", "assistant"] = Field(default="user", description="Which side said it.")
    speaker: str = Field(default="", description="The name of who said it, if it is known.")


class NamedArguments(BaseModel):
    """What ``reinforce_memory``, ``forget_memory`` and ``restore_memory`` take."""

    memory_id: str = Field(description="The memory's id, as it stands in brackets where it is recalled.")


class AdminArguments(BaseModel):
    """What ``admin_memory`` takes."""

    action: Question = Field(
        description="'status': whether the memory works. 'active_tags': tags in use. 'active_task': the task "
        "in progress. 'semantic': summaries, trends and months. 'reviews': memories to confirm or correct. "
        "'pending_deletes': ids of what is forgotten. 'maintain': do all upkeep that is due."
    )
