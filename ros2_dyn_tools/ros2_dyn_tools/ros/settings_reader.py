# SPDX-License-Identifier: Apache-2.0
"""The parameters of a node `dynamics`, as other nodes read them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from rcl_interfaces.msg import ParameterEvent
from rcl_interfaces.srv import GetParameters
from rclpy.node import Node
from rclpy.parameter import parameter_value_to_python
from rclpy.qos import qos_profile_parameters

from ros2_dyn.errors import Ros2DynError
from ros2_dyn.runtime.settings import Settings, declared


class SettingsReader:
    """Asks for the parameters when the node is found, and again when one of them changes."""

    def __init__(self, node: Node, watched: str, take: Callable[[Settings], None], tell: Callable[[str], None]) -> None:
        """Subscribe.

        Args:
            node: the node that asks.
            watched: name of the node that is asked.
            take: called with the parameters when they are other ones.
            tell: called with what is wrong with them.
        """
        self._watched = node.resolve_service_name(watched)
        self._take, self._tell = take, tell
        # More questions wait at once than the queue of an ordinary service holds.
        self._client = node.create_client(
            GetParameters, f"{watched}/get_parameters", qos_profile=qos_profile_parameters
        )
        # A node answers a question for a list that is not set, and for others, with nothing at all.
        lists = [name for name, each in declared().items() if each.is_list]
        self._questions = [[name for name in declared() if name not in lists], *([name] for name in lists)]
        self._looks: int | None = None
        self._values: dict[str, Any] = {}
        self._waiting: set[Any] = set()
        self._settings: Settings | None = None
        node.create_subscription(ParameterEvent, "/parameter_events", self._on_event, 10)

    def look(self) -> bool:
        """Ask, where the node is there and was not asked; return whether it is there. To be called now and then."""
        if not self._client.service_is_ready():
            self._looks = None
            return False
        # An answer is lost where the asker was not discovered yet. Looks are counted: answers wait while it computes.
        if self._looks is None or (self._waiting and self._looks > 4):
            self._ask()
        self._looks = 1 + (self._looks or 0)
        return True

    def _ask(self) -> None:
        """Ask for all. Answers of a question before, which may have been lost, are not waited for any more."""
        for future in self._waiting:
            self._client.remove_pending_request(future)
        self._looks, self._values, self._waiting = 0, {}, set()
        asked = [(names, self._client.call_async(GetParameters.Request(names=names))) for names in self._questions]
        self._waiting.update(future for _, future in asked)
        for names, future in asked:
            future.add_done_callback(partial(self._on_answer, names))

    def _on_event(self, message: ParameterEvent) -> None:
        if message.node == self._watched:
            self._looks = None

    def _on_answer(self, names: list[str], future: Any) -> None:
        if future not in self._waiting:
            return
        self._waiting.discard(future)
        if (response := future.result()) is not None:
            self._values.update(zip(names, map(parameter_value_to_python, response.values)))
        if self._waiting:
            return
        try:
            settings = Settings.from_values(self._values)
        except Ros2DynError as error:
            self._tell(f"parameters of {self._watched}: {error}")
            return
        if settings != self._settings:
            self._settings = settings
            self._take(settings)
