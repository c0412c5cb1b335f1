"""Backups: a verified copy of a store, made while an agent writes to it, and a store made of one again."""

from hippo_async.backup.making import BackupReport, backup
from hippo_async.backup.manifest import Manifest
from hippo_async.backup.restoring import RestoreReport, restore

__all__ = ["BackupReport", "Manifest", "RestoreReport", "backup", "restore"]
