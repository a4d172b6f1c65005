"""Slow work in another thread, so that no message has to wait for it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


class BackgroundWorker:
    """Does one piece of work after the other."""

    def __init__(self, guarded: Callable[[Callable[[], None]], None]) -> None:
        """Create it.

        Args:
            guarded: calls what goes on after the work, under the node's lock, and logs its errors.
        """
        self._guarded = guarded
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="background")

    def run(self, work: Callable[[], T], then: Callable[[T], None]) -> None:
        """Do a piece of work, and then something with its result."""

        def finish(done: Future[T]) -> None:
            self._guarded(lambda: then(done.result()))

        self._pool.submit(work).add_done_callback(finish)

    def close(self) -> None:
        """Drop the work that has not begun."""
        self._pool.shutdown(wait=False, cancel_futures=True)
