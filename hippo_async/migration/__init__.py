"""Migration: a memory moved to another data directory, whole or not at all (L13)."""

from hippo_async.migration.document import MIGRATED, Move
from hippo_async.migration.migrating import MigrationReport, migrate
from hippo_async.migration.old import find_old

__all__ = ["MIGRATED", "MigrationReport", "Move", "find_old", "migrate"]
