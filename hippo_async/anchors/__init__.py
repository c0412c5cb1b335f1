"""Daily anchors: made for every finished day, kept in a ledger, and published where others see them."""

from hippo_async.anchors.check import DayCheck, check_ledger
from hippo_async.anchors.cursor import Source
from hippo_async.anchors.day import AnchoredDay, Pending, Receipt
from hippo_async.anchors.ledger import Ledger
from hippo_async.anchors.publishers import (
    FilePublisher,
    MontanaAnchor,
    MontanaPublisher,
    PostPublisher,
    Publisher,
    montana_anchor,
)
from hippo_async.anchors.run import AnchorRun, Failed, Published, publish_due
from hippo_async.anchors.timestamp import TimestampPublisher, read_roots, verify_timestamp

__all__ = [
    "AnchorRun",
    "AnchoredDay",
    "DayCheck",
    "Failed",
    "FilePublisher",
    "Ledger",
    "MontanaAnchor",
    "MontanaPublisher",
    "Pending",
    "PostPublisher",
    "Published",
    "Publisher",
    "Receipt",
    "Source",
    "TimestampPublisher",
    "check_ledger",
    "montana_anchor",
    "publish_due",
    "read_roots",
    "verify_timestamp",
]
