# SPDX-License-Identifier: Apache-2.0
"""The services `~/take_over` and `~/give_back`: handovers between this node and the arm's other controllers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from traceback import format_exc
from typing import Any

from rclpy.node import Node
from rclpy.publisher import Publisher
from ros2_dyn_interfaces.srv import GiveBack, TakeOver

from ros2_dyn.control.events import Event, Level
from ros2_dyn.control.modes import HANDOVER_MODE
from ros2_dyn.control.modes.base import HandoverStep
from ros2_dyn.errors import MessageError, ProcessError
from ros2_dyn.ros.controller_manager import find_manager
from ros2_dyn.ros.coroutines import LateService, Waiter
from ros2_dyn.ros.node_driver import NodeDriver
from ros2_dyn.runtime.handover import UNKNOWN, give_back, take_over
from ros2_dyn.runtime.handover_protocol import ArmView, CommandedArm, Controllers, Outcome, Refused
from ros2_dyn.runtime.inputs import HandoverInput, ModeRequest

Handover = Callable[[CommandedArm, Controllers], Awaitable[Outcome]]


class NodeArm:
    """The arm of a node in a handover, see `CommandedArm`."""

    def __init__(self, driver: NodeDriver, waiter: Waiter, effort_controller: str) -> None:
        """Make it.

        Raises:
            MessageError: there is no robot yet.
        """
        self._driver, self._waiter, self.effort_controller = driver, waiter, effort_controller
        robot = driver.runtime.require_robot("joints")
        self.joints = robot.settings.robot.joints or robot.model.joint_names
        """Joints of the commands, in their order."""

    async def view(self, after: float = 0.0) -> ArmView:
        """Return the arm as it is after a time, s."""
        await self._waiter.pause(after)
        return self._driver.runtime.handover_view(self._driver.now())

    async def enter_gravity(self) -> None:
        """Enter mode gravity; see `CommandedArm`."""
        driver = self._driver
        driver.see_link()
        driver.count_state_publishers()
        if (error := (await driver.request(ModeRequest(HANDOVER_MODE))).error) is not None:
            raise Refused(str(error))

    def step(self, what: HandoverStep) -> None:
        """Take a step; see `CommandedArm`."""
        self._driver.step(HandoverInput(what))


class HandoverServices:
    """Runs one handover at a time."""

    def __init__(self, node: Node, driver: NodeDriver) -> None:
        self._node, self._driver = node, driver
        self._busy = False
        self._publishers: dict[str, Publisher] = {}
        self._taken_from: tuple[str, ...] = ()
        for kind, name, callback in (
            (TakeOver, "~/take_over", self._take_over),
            (GiveBack, "~/give_back", self._give_back),
        ):
            LateService(node, kind, name, callback)

    async def _take_over(self, request: TakeOver.Request, response: TakeOver.Response) -> TakeOver.Response:
        return await self._answer(response, take_over)

    async def _give_back(self, request: GiveBack.Request, response: GiveBack.Response) -> GiveBack.Response:
        names = tuple(request.controllers) or self._taken_from
        return await self._answer(response, partial(give_back, receivers=names))

    async def _answer(self, response: Any, handover: Handover) -> Any:
        """Run a handover, and respond with how it ended."""
        if self._busy:
            response.message = str(ProcessError(self._node.get_name(), "another handover is under way"))
            return response
        self._busy = True
        try:
            outcome = await self._run(handover)
        except (MessageError, ProcessError) as error:
            response.message = str(error)
            return response
        finally:
            self._busy = False
        self._taken_from = outcome.taken_from or self._taken_from
        response.success, response.message, response.held_by = outcome[:3]
        level: Level = "info" if outcome.success else "error"
        text = f"handover: {outcome.message}; held by {outcome.held_by or 'nobody who is known'}"
        self._driver.log.add([Event("handover", text, level)])
        if not outcome.held_by:
            self._driver.brake()
        return response

    async def _run(self, handover: Handover) -> Outcome:
        """Run a handover to its end; a fault of the node ends it, and leaves the mode as it is.

        Raises:
            MessageError: there is no robot yet.
            ProcessError: nobody manages controllers, or it is not known which one gets the commands.
        """
        node, driver = self._node, self._driver
        effort_controller = self._effort_controller()
        waiter = Waiter(node, driver.now)
        try:
            arm = NodeArm(driver, waiter, effort_controller)
            manager = find_manager(node, waiter, self._publishers)
            try:
                return await handover(arm, manager)
            except Exception as error:
                node.get_logger().error(f"please report this fault:\n{format_exc()}")
                return Outcome(False, f"a fault of the node: {error!r}", UNKNOWN)
            finally:
                manager.close()
        finally:
            waiter.close()

    def _effort_controller(self) -> str:
        """Return the name of the controller that gets the commands.

        Raises:
            ProcessError: ~/command is not remapped to one.
        """
        topic = self._node.resolve_topic_name("~/command")
        name, _, last = topic.rpartition("/")
        if last != "commands":
            raise ProcessError(self._node.get_name(), f"~/command is {topic}: remap it to <controller>/commands")
        return name.rpartition("/")[2]
