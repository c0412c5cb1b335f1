"""One thread, one thing at a time, usable to the very end of the process."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future, wait

import pytest

from hippo_async import workers
from hippo_async.errors import Closed
from hippo_async.workers import OneAtATime, Worker

SECONDS = 20


@pytest.fixture
def worker() -> Iterator[Worker]:
    worker = Worker("test")
    yield worker
    worker.close()


class Busy:
    """Keeps a worker busy until it is let go."""

    def __init__(self, worker: Worker) -> None:
        self._begun = threading.Event()
        self._released = threading.Event()
        self.future = worker.submit(self._work)
        assert self._begun.wait(SECONDS)

    def _work(self) -> str:
        self._begun.set()
        assert self._released.wait(SECONDS)
        return "done"

    def release(self) -> None:
        self._released.set()


def test_a_call_gets_its_arguments_and_its_result_comes_back(worker: Worker) -> None:
    assert worker.submit(divmod, 17, 5).result(SECONDS) == (3, 2)
    assert worker.submit(int, "ff", base=16).result(SECONDS) == 255


def test_calls_run_one_at_a_time_in_order_in_one_thread_of_that_name(worker: Worker) -> None:
    seen: list[int] = []
    futures = [worker.submit(seen.append, number) for number in range(200)]
    names = {worker.submit(lambda: threading.current_thread().name).result(SECONDS) for _ in range(5)}
    wait(futures, SECONDS)
    assert seen == list(range(200))
    assert names == {"test"}


def test_no_thread_is_started_before_the_first_call() -> None:
    worker = Worker("never started")
    assert "never started" not in {thread.name for thread in threading.enumerate()}
    worker.close()


@pytest.mark.parametrize("error", [ValueError("wrong"), KeyboardInterrupt(), SystemExit(3)], ids=repr)
def test_what_a_call_raises_goes_to_who_waits_and_the_thread_goes_on(
    worker: Worker, error: BaseException
) -> None:
    def fail() -> None:
        raise error

    with pytest.raises(type(error)):
        worker.submit(fail).result(SECONDS)
    assert worker.submit(lambda: "goes on").result(SECONDS) == "goes on"


def test_a_call_cancelled_before_it_begins_is_not_made(worker: Worker) -> None:
    busy = Busy(worker)
    made: list[str] = []
    cancelled = worker.submit(made.append, "cancelled")
    after = worker.submit(made.append, "after")
    assert cancelled.cancel()
    busy.release()
    after.result(SECONDS)
    assert made == ["after"]
    with pytest.raises(CancelledError):
        cancelled.result(SECONDS)


async def test_a_call_that_has_begun_is_finished_although_its_caller_was_cancelled(worker: Worker) -> None:
    begun, released, finished = asyncio.Event(), threading.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def work() -> None:
        loop.call_soon_threadsafe(begun.set)
        assert released.wait(SECONDS)
        finished.set()

    task = asyncio.create_task(worker.run(work))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not finished.is_set()
    released.set()
    assert await worker.run(finished.is_set)


async def test_run_awaits_the_result_or_the_error(worker: Worker) -> None:
    assert await worker.run(max, 1, 2) == 2
    with pytest.raises(ZeroDivisionError):
        await worker.run(lambda: 1 // 0)


def test_closing_finishes_what_is_queued() -> None:
    worker = Worker("test")
    busy = Busy(worker)
    queued = [worker.submit(int, number) for number in range(10)]
    closing = threading.Thread(target=worker.close)
    closing.start()
    busy.release()
    closing.join(SECONDS)
    assert [future.result(0) for future in queued] == list(range(10))


def test_a_closed_worker_takes_no_call() -> None:
    worker = Worker("test")
    worker.submit(int)
    worker.close()
    worker.close()
    with pytest.raises(Closed, match="test"):
        worker.submit(int)


def test_a_worker_that_never_ran_closes_and_takes_no_call() -> None:
    worker = Worker("test")
    worker.close()
    with pytest.raises(Closed):
        worker.submit(int)


def test_a_worker_may_be_closed_from_its_own_thread() -> None:
    worker = Worker("test")
    worker.submit(worker.close).result(SECONDS)
    with pytest.raises(Closed):
        worker.submit(int)


def test_a_call_that_slips_in_while_the_worker_closes_does_not_take_away_its_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The worker closes in the very middle of a submit: the call runs or is refused, and nothing hangs."""
    worker = Worker("test")
    busy = Busy(worker)
    queued = worker.submit(lambda: "queued")
    closing = threading.Thread(target=worker.close, daemon=True)

    class SlowFuture(Future):  # type: ignore[type-arg]
        def __init__(self) -> None:
            super().__init__()
            closing.start()
            closing.join(0.1)  # until it waits for the thread, which is busy

    with monkeypatch.context() as patch:
        patch.setattr(workers, "Future", SlowFuture)
        try:
            slipped: Future[int] | None = worker.submit(int)
        except Closed:
            slipped = None
    busy.release()
    closing.join(SECONDS)
    assert not closing.is_alive(), "the thread never got the sign to end"
    assert queued.result(SECONDS) == "queued"
    if slipped is not None:
        assert slipped.exception(SECONDS) is None or isinstance(slipped.exception(), Closed)


def test_calls_that_race_with_closing_are_run_or_refused() -> None:
    for _ in range(50):
        worker = Worker("test")
        start = threading.Barrier(3)
        futures: list[Future[int]] = []

        def submit(
            worker: Worker = worker, start: threading.Barrier = start, futures: list[Future[int]] = futures
        ) -> None:
            start.wait(SECONDS)
            try:
                while True:
                    futures.append(worker.submit(int))
            except Closed:
                pass

        threads = [threading.Thread(target=submit) for _ in range(2)]
        for thread in threads:
            thread.start()
        start.wait(SECONDS)
        worker.close()
        for thread in threads:
            thread.join(SECONDS)
        done, waiting = wait(futures, SECONDS)
        assert not waiting
        assert all(isinstance(future.exception(), Closed | None) for future in done)


async def test_a_call_that_runs_out_of_what_it_iterates_fails_and_leaves_nobody_waiting() -> None:
    """A coroutine cannot raise StopIteration, so asyncio would never wake who awaits it."""
    worker = Worker("iterating")
    async with asyncio.timeout(SECONDS):
        with pytest.raises(RuntimeError, match="StopIteration"):
            await worker.run(next, iter(()))
    await asyncio.to_thread(worker.close)


async def test_coroutines_take_turns_in_order_and_a_cancelled_one_lets_nobody_past() -> None:
    turns, seen = OneAtATime(), []

    async def take(number: int) -> None:
        async with turns.turn():
            seen.append(number)
            await asyncio.sleep(0.01)
            seen.append(number)

    async with asyncio.timeout(SECONDS):
        tasks = [asyncio.create_task(take(number)) for number in range(5)]
        await asyncio.sleep(0)
        tasks[1].cancel()
        elsewhere = asyncio.to_thread(asyncio.run, take(5))  # a loop of its own
        await asyncio.gather(elsewhere, *tasks, return_exceptions=True)
        with pytest.raises(ZeroDivisionError):
            async with turns.turn():
                _ = 1 / 0
        await take(6)
    assert seen[::2] == seen[1::2] == [0, 2, 3, 4, 5, 6]


AT_EXIT = """
import atexit
from hippo_async.workers import OneAtATime, Worker

worker = Worker("last")
worker.submit(int).result()

@atexit.register
def flush():
    print(worker.submit(lambda: "still works").result(20))
    worker.close()
"""


@pytest.mark.process
def test_a_worker_works_while_the_interpreter_exits() -> None:
    """Where the executors of the standard library refuse: turns that are still buffered get written."""
    done = subprocess.run(
        [sys.executable, "-c", AT_EXIT],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert (done.stdout, done.stderr) == ("still works\n", "")


def test_long_work_steps_aside_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    aside: list[int] = []
    monkeypatch.setattr(workers, "step_aside", lambda: aside.append(1))
    assert list(workers.unhurried(range(200), every=64)) == list(range(200))
    assert len(aside) == 3
