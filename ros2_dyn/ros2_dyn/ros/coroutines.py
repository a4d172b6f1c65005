# SPDX-License-Identifier: Apache-2.0
"""Coroutines of a node, which wait for answers, and services that are coroutines.

No executor runs them: rclpy's EventsExecutor cannot wait for a service's response in all versions, and looks at a
coroutine again only when something else has happened. Here a coroutine goes on where the answer is given.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Coroutine, Generator
from traceback import format_exc
from typing import Any, Generic, TypeVar

from rclpy.client import Client
from rclpy.clock import Clock, ClockType
from rclpy.node import Node

from ros2_dyn.runtime.handover_protocol import Refused

ANSWER_TIME = 5.0
"""Time within which a service of another node has to answer, s."""
T = TypeVar("T")


class Answer(Generic[T]):
    """A value that comes later, for which one coroutine waits."""

    def __init__(self) -> None:
        self._values: list[T] = []
        self._go_on: Callable[[], None] | None = None

    @property
    def given(self) -> bool:
        """Whether the value is there."""
        return bool(self._values)

    def give(self, value: T) -> None:
        """Give the value, once, and let the coroutine go on that waits for it."""
        self._values.append(value)
        if self._go_on is not None:
            self._go_on()

    def when_given(self, go_on: Callable[[], None]) -> None:
        """Have something called when the value is given."""
        self._go_on = go_on

    def __await__(self) -> Generator[Answer[T], None, T]:
        if not self._values:
            yield self
        return self._values[0]


def start(coroutine: Coroutine[Answer[Any], None, None]) -> None:
    """Run a coroutine until it waits for an answer, and have it go on when that is given."""
    try:
        coroutine.send(None).when_given(lambda: start(coroutine))
    except StopIteration:
        return


class Waiter:
    """Lets coroutines of a node wait for a time, or for a condition."""

    def __init__(self, node: Node, now: Callable[[], float]) -> None:
        """Make it; `close` ends it.

        Args:
            node: whose timer lets the coroutines go on.
            now: the time, s.
        """
        self._node, self._now = node, now
        self._turn = Answer[None]()
        self._timer = node.create_timer(0.01, self.wake, clock=Clock(clock_type=ClockType.STEADY_TIME))

    async def pause(self, seconds: float) -> None:
        """Wait for a time, s."""
        await self._until(lambda: False, seconds)

    async def wait_for(self, condition: Callable[[], object]) -> None:
        """Wait until a condition holds.

        Raises:
            Refused: it does not within the time for an answer.
        """
        await self._until(condition, ANSWER_TIME)
        if not condition():
            raise Refused(f"no answer within {ANSWER_TIME:g} s")

    def wake(self, *_: Any) -> None:
        """Look now whether what is awaited is there."""
        if not self._turn.given:
            self._turn.give(None)

    def close(self) -> None:
        """End."""
        self._node.destroy_timer(self._timer)

    async def call(self, client: Client, **fields: Any) -> Any:
        """Return the response of a service as soon as it comes: an activated controller waits for its trajectory.

        Raises:
            Refused: there is none within the time for an answer.
        """
        await self.wait_for(client.service_is_ready)
        future = client.call_async(client.srv_type.Request(**fields))
        future.add_done_callback(self.wake)
        try:
            await self.wait_for(future.done)
        except Refused:
            client.remove_pending_request(future)
            raise
        return future.result()

    async def _until(self, condition: Callable[[], object], seconds: float) -> None:
        deadline = self._now() + seconds
        while not condition() and self._now() < deadline:
            self._turn = Answer[None]()
            await self._turn


class LateService:
    """A service that serves one request at a time; its response has the fields `success` and `message`."""

    def __init__(self, node: Node, kind: Any, name: str, serve: Callable[[Any, Any], Coroutine[Any, Any, Any]]) -> None:
        """Create it.

        Args:
            node: the node.
            kind: type of the service.
            name: its name.
            serve: coroutine function; takes request and response, and returns the response.
        """
        self._logger, self._serve = node.get_logger(), serve
        self._waiting: deque[tuple[Any, Any, Any]] = deque()
        service = node.create_service(kind, name, lambda request, response: (request, response))
        self._send = service.send_response
        service.send_response = self._take

    def _take(self, request_and_response: tuple[Any, Any], header: Any) -> None:
        """Take a request in place of its response, which the executor would send now."""
        self._waiting.append((*request_and_response, header))
        if len(self._waiting) == 1:
            start(self._answer())

    async def _answer(self) -> None:
        """Answer all that waits."""
        while self._waiting:
            request, response, header = self._waiting[0]
            try:
                response = await self._serve(request, response)
            except Exception as error:
                self._logger.error(f"please report this fault:\n{format_exc()}")
                response.success, response.message = False, f"a fault of the node: {error!r}"
            self._send(response, header)
            self._waiting.popleft()
