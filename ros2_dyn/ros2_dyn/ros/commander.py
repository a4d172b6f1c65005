"""The modes: what leaves on ~/command, when, and who may ask for it."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from math import inf
from statistics import median
from typing import Any, NamedTuple, get_args

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy import task
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from ros2_dyn_interfaces.srv import SetMode
from std_msgs.msg import String

from ros2_dyn.control.arm_state import ArmState
from ros2_dyn.control.effort_guard import COMMANDING, EASE_PERIOD, YOUNG, EffortGuard, Mode, View
from ros2_dyn.control.gravity_compensation import gravity_compensation
from ros2_dyn.control.sampling import bearable
from ros2_dyn.dynamics import singular_values
from ros2_dyn.errors import InputError, MessageError
from ros2_dyn.model.spatial import Array
from ros2_dyn.ros.command_output import CommandOutput
from ros2_dyn.ros.effort_convention import total_effort
from ros2_dyn.ros.last_will import Duty
from ros2_dyn.ros.laws import Laws
from ros2_dyn.ros.node_base import LATCHED
from ros2_dyn.ros.on_demand import OnDemand
from ros2_dyn.ros.pairing import Pair
from ros2_dyn.ros.parameters import Settings, check_guarded
from ros2_dyn.ros.preconditions import limits_of, why_no_robot, why_no_state, why_not_now, why_too_much
from ros2_dyn.ros.refusals import Refusals
from ros2_dyn.ros.robot import Efforts, Robot
from ros2_dyn.ros.target_wrench import TargetWrench

Aside = Callable[[Callable[[], Any], Callable[["Future[Any]"], None]], None]


class Start(NamedTuple):
    """From what a mode begins."""

    applied: Array
    """What the joints exert, as it would be commanded, N m or N, shape (n,)."""
    held: Array
    """What carries the arm, as well."""
    age: float
    """Of the state that this is of, s."""


class Commander:
    """Commands what the mode says, through the guard, and enters and leaves modes."""

    def __init__(
        self,
        node: Node,
        safely: Callable[[Callable[..., None]], Callable[..., None]],
        answer: Callable[[Any, Callable[[], None]], Any],
        aside: Aside,
        refusals: Refusals,
    ) -> None:
        """Create publishers, subscription and service.

        Args:
            node: the node.
            safely: makes a callback log its unforeseen errors.
            answer: fills a response by an action, and says in it why that failed.
            aside: does slow work in another thread, and then something in the executor's.
            refusals: where messages that cannot be used are counted.
        """
        self._node, self._answer, self._aside, self._refusals = node, answer, aside, refusals
        self.laws = Laws()
        self.guard: EffortGuard | None = None
        self._robot: Robot | None = None
        self._latest: tuple[Pair, Efforts, float] | None = None
        self._periods: deque[float] = deque(maxlen=9)
        self._held: Array | None = None
        self._said_mode = ""
        self._out = CommandOutput(node)
        self._mode_out = node.create_publisher(String, "~/mode", LATCHED)
        node.create_subscription(WrenchStamped, "~/desired_wrench", safely(self._on_wrench), 1)
        node.create_service(SetMode, "~/set_mode", self._set_mode, callback_group=MutuallyExclusiveCallbackGroup())
        self._say()
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        node.create_timer(EASE_PERIOD, safely(self._ease), callback_group=OnDemand(lambda: self.commands), clock=steady)

    @property
    def mode(self) -> Mode:
        """The mode at this time."""
        return "monitor" if self.guard is None else self.guard.mode

    @property
    def commands(self) -> bool:
        """Whether commands leave."""
        return self.guard is not None and self.guard.commands

    # ---- the robot and the parameters

    def serve(self, robot: Robot) -> None:
        """Go on with another robot, or the same with other parameters; another description ends a mode."""
        before, guard = self._robot, self.guard
        model, settings = robot.model, robot.settings
        limits = limits_of(model, settings.control)
        self._robot = robot
        self._out.order = [
            model.joint_names.index(name) for name in self._command_joints() if name in model.joint_names
        ]
        another = before is None or before.description is not robot.description
        if another:
            self.laws.target_wrench = None  # its frame may be gone
        if before is None or before.model.joint_names != model.joint_names:
            self._latest = None
            self._out.forget()
        if guard is None or not guard.commands:
            self.guard = EffortGuard(limits, settings.control.policy(settings.singularity_threshold))
            if guard is not None:
                self.guard.count, self.guard.reason = guard.count, guard.reason
        elif another:
            guard.end_with(limits)
        self._say()

    def check_change(self, before: Settings, after: Settings) -> None:
        """Refuse parameters that cannot be changed while commands leave.

        Raises:
            InputError: the mode has to be left first.
        """
        if self.commands:
            check_guarded(before, after, self.mode)

    # ---- commands

    def command(self, pair: Pair, efforts: Efforts, robot: Robot, now: float) -> None:
        """Command what the mode says at a state.

        Args:
            pair: the measured and the desired state.
            efforts: the model's, there.
            robot: that computed them.
            now: time of a steady clock, s.
        """
        if self._latest is not None:
            self._periods.append(now - self._latest[2])
        self._latest = (pair, efforts, now)
        guard = self.guard
        if guard is None or not guard.commands:
            return
        arm = robot.arm_state(pair.measured, efforts, now)
        view = self._view(guard.mode, pair, arm, now)
        period = self._period()
        safe = gravity_compensation(arm, bearable(robot.settings.control.stop_damping, period))
        held = self._as_commanded(arm.gravity, arm)
        effort = guard.command(
            view,
            lambda mode: self._as_commanded(self.laws.effort(mode, robot, pair, efforts, arm, now, period), arm),
            self._as_commanded(safe, arm),
            held,
        )
        self._held = self._held if effort is None else held
        self._send(effort)

    def close(self) -> None:
        """The node ends: what it commands passes to its last will."""
        self._out.close()

    def look(self) -> None:
        """See who listens. To be called a few times a second."""
        if self.guard is None or not self.commands:
            return
        if not self._out.heard:
            self.guard.lose("nobody listens", f" on {self._out.topic}")
        elif self._out.forsaken(self.guard):
            self.guard.stop("last will gone", ": the process that would pass to a safe effort has ended")
        self._say()

    def _ease(self) -> None:
        if self.guard is not None and self._held is not None:
            self._send(self.guard.ease(self._held, time.monotonic()))

    def _send(self, effort: Array | None) -> None:
        """Publish a command, if there is one and its state is still young enough."""
        guard = self.guard
        if effort is not None and guard is not None and self._held is not None:
            if guard.fresh(time.monotonic() - guard.state_at):
                self._out.send(effort, guard, self._held)
            else:
                guard.lose("state stale", ": too old when its command was ready")
        self._say()

    def _as_commanded(self, effort: Array, arm: ArmState) -> Array:
        """As the controller wants it, from all that the joints exert."""
        assert self._robot is not None
        return effort - arm.gravity if self._robot.settings.command_effort == "gravity_compensated" else effort

    def _view(self, mode: Mode, pair: Pair, arm: ArmState, now: float) -> View:
        robot, desired = self._robot, pair.desired
        assert robot is not None
        distance = float(np.max(np.abs(arm.q - desired.q))) if mode == "feed_forward" and desired and desired.q else 0.0
        return View(
            now,
            self._age(pair),
            arm.q,
            arm.qd,
            self.laws.target_age(mode, pair, now),
            distance,
            robot.monitor is not None and robot.monitor.detector.collision,
            float(singular_values(arm.J)[-1]) if mode == "force" else inf,
        )

    def _period(self) -> float:
        """That in which states come, s."""
        return median(self._periods or [inf])

    def _age(self, pair: Pair) -> float:
        """Of a state, by the node's clock, s."""
        sec, nanosec = pair.measured.stamp
        return 1e-9 * (self._node.get_clock().now().nanoseconds - sec * 10**9 - nanosec)

    def _say(self) -> None:
        """Log what the guard did, and publish the mode if it is another."""
        if self.guard is not None and self.guard.news:
            for text in self.guard.news:
                self._node.get_logger().warning(text)
            self.guard.news.clear()
        if not self.commands:
            self._out.rest()
        if self.mode != self._said_mode:
            self._said_mode = self.mode
            self._mode_out.publish(String(data=self.mode))

    # ---- targets and modes

    def _on_wrench(self, message: WrenchStamped) -> None:
        robot = self._robot
        if robot is None:
            return

        def make() -> TargetWrench:
            return TargetWrench(robot.model, message, time.monotonic())

        def take(made: Callable[[], TargetWrench]) -> None:
            try:
                target = made()
            except MessageError as error:
                self._refusals.refuse("~/desired_wrench", error)
                return
            if robot is self._robot:
                self.laws.target_wrench = target

        known = self.laws.target_wrench
        if known is not None and known.frame == message.header.frame_id:
            take(make)
        else:  # its kernel may have to be made
            self._aside(make, lambda made: take(made.result))

    async def _set_mode(self, request: SetMode.Request, response: SetMode.Response) -> SetMode.Response:
        trouble = ""
        robot, guard = self._robot, self.guard
        if robot is not None and guard is not None and request.mode in COMMANDING and not self._out.why_nobody():
            prepared = task.Future(executor=self._node.executor)
            duty = self._out.duty(guard)
            self._aside(lambda: self._prepare(robot, duty), lambda done: prepared.set_result(_outcome(done)))
            trouble = await prepared
        return self._answer(response, lambda: self._enter(request.mode, trouble))

    def _prepare(self, robot: Robot, duty: Duty | None) -> str:
        """Make what commanding needs; what went wrong, if anything did."""
        robot.prepare_commands()
        return self._out.entrust(duty)

    def _enter(self, mode: str, trouble: str) -> None:
        """Enter a mode, if its preparation met no trouble.

        Raises:
            InputError: there is no such mode, or something stands against it.
        """
        now = time.monotonic()
        if mode == "monitor":
            if self.guard is not None:
                self.guard.leave(now)
            self._say()
            return
        if mode not in COMMANDING:
            modes = [name for name in get_args(Mode) if name != "stopped"]
            raise InputError("mode", f"expected one of {', '.join(modes)}; got '{mode}'")
        why, start = self._why_not(mode, now)
        if why or trouble or start is None:
            raise InputError(mode, why or trouble)
        assert self.guard is not None
        if not self._out.entrusted(self.guard):
            raise InputError(mode, "the robot or parameters of the guard changed meanwhile: ask again")
        self.guard.enter(mode, start.applied, start.age, now)
        self._held = start.held
        self.laws.begin(now)
        self._say()
        self._node.get_logger().info(f"mode {mode}, commanding {self._command_joints()} on {self._out.topic}")

    def _command_joints(self) -> tuple[str, ...]:
        assert self._robot is not None
        return self._robot.settings.control.command_joints or self._robot.model.joint_names

    def _why_not(self, mode: Mode, now: float) -> tuple[str, Start | None]:
        """Why a mode cannot be entered, if it cannot; and from what it begins."""
        robot, guard = self._robot, self.guard
        if robot is None or guard is None:
            return "no robot_description has been received", None
        control = robot.settings.control
        if why := why_no_robot(robot.model, control.command_joints):
            return why, None
        if self._latest is None:
            return "no usable state on joint_states yet", None
        pair, efforts, arrived_at = self._latest
        arm = robot.arm_state(pair.measured, efforts, now)
        view = self._view(mode, pair, arm, now)
        if now - arrived_at > abs(view.age):  # simulated time may stand still
            view = view._replace(age=now - arrived_at)
        held = self._as_commanded(arm.gravity, arm)
        start = Start(self._applied(robot, pair, efforts, arm), held, view.age)
        timeouts = control.target_timeout, control.tracking_tolerance, robot.settings.singularity_threshold
        return (
            why_no_state(view, YOUNG * control.state_timeout, robot.intake.stamped, self._period())
            or why_not_now(mode, view, *timeouts)
            or why_too_much(guard.limits, arm.qd, start.applied, held)
            or self._out.why_nobody()
        ), start

    def _applied(self, robot: Robot, pair: Pair, efforts: Efforts, arm: ArmState) -> Array:
        """What the joints exert, as it would be commanded: as last commanded, or as measured, or their weight."""
        if (sent := self._out.applied()) is not None:
            return sent
        measured, kind = pair.measured.effort, robot.settings.measured_effort
        if measured is None or not np.all(np.isfinite(measured)):
            return self._as_commanded(arm.gravity, arm)
        total = total_effort(kind, measured, efforts.inverse_dynamics, efforts.gravity)
        return self._as_commanded(np.array(total), arm)


def _outcome(done: Future[str]) -> str:
    """What the preparation of a mode says, or what kept it from saying so."""
    error = done.exception()
    return done.result() if error is None else f"a fault of the node: {error!r}"
