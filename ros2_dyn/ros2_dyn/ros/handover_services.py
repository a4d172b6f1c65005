# SPDX-License-Identifier: Apache-2.0
"""The services `~/take_over` and `~/give_back`: handovers between this node and the arm's other controllers."""

from __future__ import annotations

from collections import deque
from functools import partial
from traceback import format_exc
from typing import Any

from builtin_interfaces.msg import Duration
from rclpy import task
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.publisher import Publisher
from ros2_dyn_interfaces.srv import GiveBack, TakeOver
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ros2_dyn.control.events import Event, Level
from ros2_dyn.errors import MessageError, ProcessError
from ros2_dyn.ros.controller_manager import ControllerManager, find_manager
from ros2_dyn.ros.node_driver import NodeDriver
from ros2_dyn.runtime.handover import UNTOLD, give_back, take_over
from ros2_dyn.runtime.handover_protocol import (
    Ask,
    EnterMode,
    ListControllers,
    Outcome,
    Procedure,
    Stay,
    Step,
    SwitchControllers,
)
from ros2_dyn.runtime.handover_run import HandoverRun

PERIOD = 0.01
"""How often a handover goes on, s."""
STAY_TIME = Duration(nanosec=2_000_000)
"""Time of the point at which a trajectory controller stays."""


class HandoverServices:
    """Runs one handover at a time."""

    def __init__(self, node: Node, driver: NodeDriver) -> None:
        self._node, self._driver = node, driver
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._run: HandoverRun | None = None
        self._manager: ControllerManager | None = None
        self._answers: deque[tuple[Ask, Any]] = deque()
        self._unheard: Ask | None = None
        """What waits until somebody is there to hear it."""
        self._publishers: dict[str, Publisher] = {}
        self._taken_from: tuple[str, ...] = ()
        for kind, name, callback in (
            (TakeOver, "~/take_over", self._take_over),
            (GiveBack, "~/give_back", self._give_back),
        ):
            node.create_service(kind, name, callback, callback_group=MutuallyExclusiveCallbackGroup())

    async def _take_over(self, request: TakeOver.Request, response: TakeOver.Response) -> TakeOver.Response:
        return await self._answer(response, take_over)

    async def _give_back(self, request: GiveBack.Request, response: GiveBack.Response) -> GiveBack.Response:
        names = tuple(request.controllers) or self._taken_from
        return await self._answer(response, partial(give_back, controllers=names))

    async def _answer(self, response: Any, procedure: Any) -> Any:
        """Run a handover, and respond with how it ended."""
        try:
            outcome = await self._begin(procedure(self._effort_controller(), joints=self._joints()))
        except (MessageError, ProcessError) as error:
            response.message = str(error)
            return response
        response.success, response.message, response.held_by = outcome[:3]
        level: Level = "info" if outcome.success else "error"
        text = f"handover: {outcome.message}; held by {outcome.held_by or 'nobody who is known'}"
        self._driver.log.add([Event("handover", text, level)])
        if not outcome.held_by:
            self._driver.brake()
        return response

    def _effort_controller(self) -> str:
        """Return the name of the controller that gets the commands.

        Raises:
            ProcessError: it is not declared.
        """
        if declared := self._driver.runtime.settings.effort_controller:
            return declared
        topic = self._node.resolve_topic_name("~/command")
        name, _, last = topic.rpartition("/")
        if last != "commands":
            text = f"~/command is {topic}: remap it to <controller>/commands, or set the parameter effort_controller"
            raise ProcessError(self._node.get_name(), text)
        return name.rpartition("/")[2]

    def _joints(self) -> tuple[str, ...]:
        """Return the joints of the commands, in their order.

        Raises:
            MessageError: there is no robot yet.
        """
        robot = self._driver.runtime.require_robot("joints")
        return robot.settings.command_joints or robot.model.joint_names

    # ---- one handover

    async def _begin(self, procedure: Procedure) -> Outcome:
        """Run a handover to its end.

        Raises:
            ProcessError: another one is under way, or nobody manages controllers.
        """
        driver, node = self._driver, self._node
        if self._run is not None:
            raise ProcessError(node.get_name(), "another handover is under way")
        settings = driver.runtime.settings
        manager = self._manager = find_manager(node, settings.controller_manager, settings.handover_timeout)
        see = lambda: driver.runtime.handover_view(driver.now())  # noqa: E731
        run = self._run = HandoverRun(procedure, self._ask, see, settings.handover_timeout)
        ended = task.Future(executor=node.executor)
        timer = node.create_timer(PERIOD, partial(self._tick, run, ended), clock=self._steady)
        try:
            outcome: Outcome = await ended
        finally:
            node.destroy_timer(timer)
            manager.destroy(node)
            self._run = self._manager = None
        self._taken_from = outcome.taken_from or self._taken_from
        return outcome

    def _tick(self, run: HandoverRun, ended: task.Future) -> None:
        """Let the handover go on; a fault ends it, and leaves the mode as it is."""
        try:
            self._let_time_pass(run)
        except Exception as error:
            self._node.get_logger().error(f"please report this fault:\n{format_exc()}")
            run.outcome = Outcome(False, f"a fault of the node: {error!r}", UNTOLD)
        if run.outcome is not None and not ended.done():
            self._answers.clear()
            self._unheard = None
            ended.set_result(run.outcome)

    def _let_time_pass(self, run: HandoverRun) -> None:
        now = self._driver.now()
        while self._answers:
            run.answer(*self._answers.popleft(), now)
        if self._unheard is not None:
            asked, self._unheard = self._unheard, None
            self._ask(asked)
        run.on_time(now)

    def _ask(self, asked: Ask) -> None:
        driver, runtime, manager = self._driver, self._driver.runtime, self._manager
        assert manager is not None
        if isinstance(asked, ListControllers | SwitchControllers) and not manager.ready:
            self._unheard = asked
        elif isinstance(asked, ListControllers):
            manager.list(partial(self._go_on, asked))
        elif isinstance(asked, SwitchControllers):
            manager.switch(asked.activate, asked.deactivate, partial(self._go_on, asked))
        elif isinstance(asked, Step):
            driver.handle(runtime.on_handover(asked.what, driver.now()))
            self._answers.append((asked, None))
        elif isinstance(asked, EnterMode):
            driver.see_link()
            driver.count_state_publishers()
            mode = asked.mode
            driver.ask(
                lambda name: runtime.request_mode(mode, driver.now(), name),
                lambda reply: self._answers.append((asked, str(reply.error or ""))),
            )
        elif isinstance(asked, Stay):
            self._stay(asked)

    def _go_on(self, asked: Ask, value: Any) -> None:
        """Take the answer of the manager, at once: a controller that was switched on waits for its trajectory."""
        if self._run is not None:
            self._run.answer(asked, value, self._driver.now())

    def _stay(self, asked: Stay) -> None:
        """Publish a trajectory of one point; without positions wait until somebody hears."""
        name = asked.controller.name
        if name not in self._publishers:
            manager = self._node.resolve_service_name(self._driver.runtime.settings.controller_manager)
            topic = f"{manager.rpartition('/')[0]}/{name}/joint_trajectory"
            self._publishers[name] = self._node.create_publisher(JointTrajectory, topic, 1)
        if not self._publishers[name].get_subscription_count():
            self._unheard = asked
            return
        if not asked.positions:
            self._answers.append((asked, ""))
            return
        joints = list(asked.positions)
        point = JointTrajectoryPoint(positions=list(asked.positions.values()), velocities=[0.0] * len(joints))
        point.effort = [asked.efforts[joint] for joint in joints] if asked.efforts else []
        point.time_from_start = STAY_TIME
        self._publishers[name].publish(JointTrajectory(joint_names=joints, points=[point]))
        self._answers.append((asked, ""))
