"""What a prompt is told of earlier days: chosen, framed as data, within a hard token budget. Pure."""

from hippo_async.briefing.frame import is_briefing, one_line
from hippo_async.briefing.render import BriefItem, Section, compose
from hippo_async.briefing.select import select_recent, trusted

__all__ = ["BriefItem", "Section", "compose", "is_briefing", "one_line", "select_recent", "trusted"]
