"""The truth: a signed, append-only chain of records in plain files. FORMAT.md is its specification."""

from hippo_async.journal.journal import Journal
from hippo_async.journal.keys import GivenKeys, Key, KeyFiles, Keyring, make_key, read_key
from hippo_async.journal.lineage import Lineage
from hippo_async.journal.marks import Marker
from hippo_async.journal.reading import ChainReport
from hippo_async.journal.settling import OpenReport
from hippo_async.journal.writer import Appended, Tail

__all__ = [
    "Appended",
    "ChainReport",
    "GivenKeys",
    "Journal",
    "Key",
    "KeyFiles",
    "Keyring",
    "Lineage",
    "Marker",
    "OpenReport",
    "Tail",
    "make_key",
    "read_key",
]
