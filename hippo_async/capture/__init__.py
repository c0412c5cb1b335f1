"""From a turn that was said to a record that is durable, without the agent waiting for it."""

from hippo_async.capture.receipt import Receipt

__all__ = ["Receipt"]
