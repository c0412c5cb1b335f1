"""Time, disk and callers under a test's control: what this library's tests stand on, shipped for yours."""

from hippo_async.testing.cancel import Cancellation, each_cancellation
from hippo_async.testing.clock import FakeClock
from hippo_async.testing.disk import DiskState, SimulatedDisk
from hippo_async.testing.ops import ANY, Call, Gate, Rule, ScriptedOps, each_failure

__all__ = [
    "ANY",
    "Call",
    "Cancellation",
    "DiskState",
    "FakeClock",
    "Gate",
    "Rule",
    "ScriptedOps",
    "SimulatedDisk",
    "each_cancellation",
    "each_failure",
]
