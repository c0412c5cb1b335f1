"""The scripted disk: the fault comes where it was written, and nowhere else."""

from __future__ import annotations

import errno
import os
import signal
import threading
import warnings
from pathlib import Path

import pytest

from hippo_async.files import Files
from hippo_async.testing import ScriptedOps, each_failure

SECONDS = 20


@pytest.fixture
def ops() -> ScriptedOps:
    return ScriptedOps()


def test_a_scripted_fault_strikes_the_call_it_was_written_for(ops: ScriptedOps, tmp_path: Path) -> None:
    files = Files(ops)
    rule = ops.fail("write", errno.ENOSPC, at=2, name="b*")
    files.append(tmp_path / "b1", b"first write to a b")
    files.append(tmp_path / "a", b"a write to something else")
    with pytest.raises(OSError, match="No space left") as caught:
        files.append(tmp_path / "b2", b"second write to a b")
    files.append(tmp_path / "b3", b"third write to a b")
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(tmp_path / "b2"))
    assert rule.fired == 1
    assert ops.count("write", name="b*") == 3


def test_a_lasting_fault_strikes_ever_after(ops: ScriptedOps, tmp_path: Path) -> None:
    rule = ops.fail("*", errno.EIO, at=4, lasting=True)
    Files(ops).append(tmp_path / "file", b"open, write, close")
    for _ in range(3):
        with pytest.raises(OSError, match="Input/output"):
            Files(ops).exists(tmp_path)
    assert rule.fired == 3


def test_a_fault_does_nothing_but_a_close_that_fails_has_closed(ops: ScriptedOps, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"content")
    ops.fail("unlink", errno.EIO)
    with pytest.raises(OSError, match="Input/output"):
        Files(ops).remove(path)
    assert path.exists()
    ops.fail("close", errno.EIO)
    fd = ops.open(path, os.O_RDONLY)
    with pytest.raises(OSError, match="Input/output"):
        ops.close(fd)
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(fd)
    assert ops.descriptors == {}


def test_a_held_call_waits_at_its_gate_while_others_pass(ops: ScriptedOps, tmp_path: Path) -> None:
    gate = ops.hold("write", name="held")
    assert not gate.reached
    writing = threading.Thread(target=Files(ops).append, args=(tmp_path / "held", b"content"))
    writing.start()
    gate.wait_reached()
    assert (tmp_path / "held").read_bytes() == b""
    Files(ops).append(tmp_path / "other", b"passes")
    gate.open()
    writing.join(SECONDS)
    assert (tmp_path / "held").read_bytes() == b"content"


@pytest.mark.process
def test_a_kill_comes_before_the_call_and_leaves_what_was_written(ops: ScriptedOps, tmp_path: Path) -> None:
    path = tmp_path / "file"
    ops.kill("write", at=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # other tests may have left threads behind
        child = os.fork()
    if child == 0:
        try:
            Files(ops).append(path, b"first")
            Files(ops).append(path, b"second")
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL
    assert path.read_bytes() == b"first"


def test_syncs_may_be_counted_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    for ops in (ScriptedOps(syncing=False), ScriptedOps()):
        Files(ops).sync_dir(tmp_path)
        assert ops.count("sync") == 1
    assert len(synced) == 1


def test_each_failure_fails_every_call_once_and_then_none(tmp_path: Path) -> None:
    failed = []
    for ops in each_failure(errno.EIO):
        try:
            Files(ops).append(tmp_path / "file", b"open, write, close")
        except OSError:
            failed.append(True)
        else:
            failed.append(False)
    assert failed == [True, True, True, False]
