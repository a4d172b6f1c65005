"""The node `dynamics`: follows measured and desired states, publishes efforts, and answers services."""

from __future__ import annotations

import math
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from traceback import format_exc
from typing import Any, TypeVar

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from rcl_interfaces.msg import SetParametersResult
from rclpy import task
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import qos_profile_sensor_data
from ros2_dyn_interfaces.srv import GetDynamics, GetJacobian, SetPayload, WrenchToTorque
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory

from ros2_dyn.errors import MessageError, Ros2DynError
from ros2_dyn.model import RobotModel, audit
from ros2_dyn.ros import diagnostics
from ros2_dyn.ros.collision_services import CollisionServices
from ros2_dyn.ros.commander import Commander
from ros2_dyn.ros.description import load_file
from ros2_dyn.ros.effort_convention import total_effort
from ros2_dyn.ros.node_base import LATCHED, run_node
from ros2_dyn.ros.on_demand import OnDemand, waiting
from ros2_dyn.ros.outputs import Outputs
from ros2_dyn.ros.pairing import KEPT, Pair, Pairing
from ros2_dyn.ros.parameters import Settings, changed_settings, declare_settings, verdict
from ros2_dyn.ros.refusals import Refusals
from ros2_dyn.ros.robot import Efforts, Robot
from ros2_dyn.ros.services import fill_dynamics, fill_jacobian, fill_torque, set_payload
from ros2_dyn.ros.state_intake import MeasuredState
from ros2_dyn.ros.trajectory import effort_along

LOOK_PERIOD, LOOKS_PER_REPORT = 0.5, 2
"""How often the node looks who listens, s; and how often between two reports."""

SWITCH_INTERVAL = 2e-4
"""How long, s, work that is done aside may keep a state waiting: Python's default is 5 ms."""
GRACE = 0.02
"""How long, s, a context that goes down may take to say so, while calls fail already."""
T = TypeVar("T")


class DynamicsNode(Node):
    """Joint efforts of any URDF robot, from its measured and desired states."""

    def __init__(self) -> None:
        super().__init__("dynamics")
        self._settings = declare_settings(self)
        self._refusals = Refusals(self.get_logger())
        self._window = diagnostics.Window()
        self._robot: Robot | None = None
        self._outputs: Outputs | None = None
        self._warnings: list[str] = []
        self._description = ""
        self._worker = ThreadPoolExecutor(1)
        self._finished: deque[Callable[[], None]] = deque()
        sys.setswitchinterval(SWITCH_INTERVAL)
        self._looks = 0
        self._last_state_at = -math.inf
        self._with_effort = self.create_publisher(JointTrajectory, "~/trajectory_with_effort", 10)
        self._diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", 10)
        self._collisions = CollisionServices(self, self._answer)
        self._commander = Commander(self, self._safely, self._answer, self._aside, self._refusals)

        if self._settings.robot_description:
            self._use(RobotModel.from_urdf(self._settings.robot_description), self._settings)
        elif self._settings.urdf_file:
            self._use(load_file(self._settings.urdf_file), self._settings)
        else:
            self.get_logger().info("waiting for the topic robot_description")
            self.create_subscription(String, "robot_description", self._safely(self._on_description), LATCHED)

        self._desired = self.create_subscription(
            JointTrajectory,
            "~/desired",
            self._safely(self._on_desired),
            KEPT,
            callback_group=OnDemand(lambda: self._robot is not None and self._robot.pairing.waits),
        )
        self.create_subscription(JointTrajectory, "~/desired_trajectory", self._safely(self._on_trajectory), 10)
        self.create_subscription(JointState, "joint_states", self._safely(self._on_state), qos_profile_sensor_data)
        self.create_service(GetJacobian, "~/get_jacobian", self._answer_with(fill_jacobian))
        self.create_service(WrenchToTorque, "~/wrench_to_torque", self._answer_with(fill_torque))
        self.create_service(GetDynamics, "~/get_dynamics", self._answer_with(fill_dynamics))
        alone = MutuallyExclusiveCallbackGroup()  # states go on while it waits for kernels
        self.create_service(SetPayload, "~/set_payload", self._set_payload, callback_group=alone)
        self.add_on_set_parameters_callback(self._on_parameters)
        steady = Clock(clock_type=ClockType.STEADY_TIME)  # goes on where simulated time stands still
        self.create_timer(LOOK_PERIOD, self._safely(self._look), clock=steady)

    def _safely(self, callback: Callable[..., None]) -> Callable[..., None]:
        """The callback, whose unforeseen errors are logged: a fault of ours must not end what others rely on."""

        def safe(*args: Any) -> None:
            try:
                callback(*args)
            except Exception:
                time.sleep(GRACE)
                if not rclpy.ok():
                    raise  # the end, not an error
                self.get_logger().error(f"please report this fault:\n{format_exc()}", throttle_duration_sec=1.0)

        return safe

    def _aside(self, work: Callable[[], T], then: Callable[[Future[T]], None]) -> None:
        """Do slow work in another thread, so that no state has to wait for it, and go on in this one."""

        def finished(done: Future[T]) -> None:
            self._finished.append(lambda: then(done))
            if (executor := self.executor) is not None:  # the node is not on its way down
                executor.create_task(self._safely(self._go_on))

        self._worker.submit(work).add_done_callback(finished)

    def _go_on(self) -> None:
        """With what was finished first: the executor takes the newest of its tasks first."""
        self._finished.popleft()()

    def destroy_node(self) -> None:
        """End; what is commanded is ended first."""
        self._commander.close()
        super().destroy_node()

    # ---- the robot and the parameters

    def _use(self, description: RobotModel, settings: Settings) -> None:
        """Take a robot, or raise and keep the one before."""
        robot, keeps_payload = self._make(description, settings)
        warnings = audit(robot.model)
        if not keeps_payload:
            self.get_logger().warning("the payload is gone: no joint moves the link that carried it any more")
        if self._outputs is None or not self._outputs.serve(robot):
            if self._outputs is not None:
                self._outputs.destroy()
            self._outputs = Outputs(self, robot)
        self._robot, self._settings, self._warnings = robot, settings, warnings
        self._collisions.serve(robot.monitor, self._outputs.collision, settings.collision_service)
        self._commander.serve(robot)
        names = ", ".join(robot.model.joint_names)
        self.get_logger().info(f"using '{robot.model.name}' with the joints {names}, tip link '{robot.tip_link}'")
        for warning in warnings:
            self.get_logger().warning(f"robot description: {warning}")

    def _make(self, description: RobotModel, settings: Settings) -> tuple[Robot, bool]:
        """A robot that goes on from the one before, and whether it carries the same payload."""
        robot = Robot(description, settings)
        return robot, self._robot is None or robot.succeed(self._robot)

    def _on_description(self, message: String) -> None:
        if message.data != self._description:
            self._description = message.data
            # A robot that is made aside leaves its kernels at hand for the one that is made here.
            self._aside(
                lambda: self._make(RobotModel.from_urdf(message.data), self._settings),
                lambda _: self._take_description(message.data),
            )

    def _take_description(self, xml: str) -> None:
        try:
            self._use(RobotModel.from_urdf(xml), self._settings)
        except Ros2DynError as error:
            kept = f"; '{self._robot.model.name}' is kept" if self._robot else ""
            self.get_logger().error(f"robot_description refused: {error}{kept}")

    def _on_parameters(self, changes: Sequence[Parameter]) -> SetParametersResult:
        """Take all changes or none."""
        try:
            settings = changed_settings(self, changes)
            self._commander.check_change(self._settings, settings)
            if settings != self._settings and self._robot is not None:
                self._use(self._robot.description, settings)
            self._settings = settings
            return verdict()
        except Ros2DynError as error:
            return verdict(str(error))

    # ---- the state path

    def _on_desired(self, message: JointTrajectory) -> None:
        if self._robot is None:
            return
        try:
            desired = self._robot.order.desired(message)
        except MessageError as error:
            self._refusals.refuse("~/desired", error)
            return
        started, now = time.perf_counter(), time.monotonic()
        self._commander.laws.desired_at = now
        self._publish(self._robot.pairing.desired_arrived(desired, now), started)

    def _take_waiting_desired(self) -> None:
        """Read all that has come on ~/desired, which is read by the executor only while a state waits for it."""
        for message in waiting(self._desired):
            self._on_desired(message)

    def _on_state(self, message: JointState) -> None:
        started = time.perf_counter()
        robot = self._robot
        if robot is None:
            return
        self._take_waiting_desired()
        now = time.monotonic()
        restarts = robot.intake.restarts
        try:
            state = robot.intake.take(message, now, self._nanoseconds)
        except MessageError as error:
            self._refusals.refuse("joint_states", error)
            return
        if state is None:
            self._window.foreign += 1
            if robot.state is None:
                names = ", ".join(message.name)
                text = f"joint_states holds [{names}], none of them a joint of '{robot.model.name}'"
                self.get_logger().warning(text, throttle_duration_sec=5.0)
            return
        if robot.intake.restarts != restarts:
            robot.pairing = Pairing(self._settings.desired_timeout)  # stamps of another time
            self.get_logger().warning(
                "the stamps of joint_states went back: starting afresh", throttle_duration_sec=1.0
            )
        robot.state = state
        self._window.states += 1
        if math.isfinite(self._last_state_at):
            self._window.periods.append(now - self._last_state_at)
        self._last_state_at = now
        self._publish(robot.pairing.measured_arrived(state, now), started)

    def _nanoseconds(self) -> int:
        return self.get_clock().now().nanoseconds

    def _publish(self, pairs: list[Pair], started: float) -> None:
        robot, outputs = self._robot, self._outputs
        if not pairs or robot is None or outputs is None:
            return
        now = time.monotonic()
        for pair in pairs:
            pair, efforts = self._efforts(robot, pair, now)
            if efforts is not None:
                self._monitor(robot, pair.measured, efforts, now)
                if pair.measured is robot.state:  # the newest
                    self._commander.command(pair, efforts, robot, now)
                outputs.publish(pair.measured.stamp, efforts, now)
                self._watch(robot, pair.measured, efforts)
        self._window.latencies.append(time.perf_counter() - started)

    def _efforts(self, robot: Robot, pair: Pair, now: float) -> tuple[Pair, Efforts | None]:
        """Those of a pair; where the desired state makes no sense, of a pair without it."""
        try:
            return pair, robot.efforts(pair, now)
        except MessageError as error:
            if pair.desired is None:
                self._refusals.refuse("joint_states", error)
                return pair, None
            self._refusals.refuse("~/desired", error)
            return self._efforts(robot, Pair(pair.measured, None), now)

    def _monitor(self, robot: Robot, state: MeasuredState, efforts: Efforts, now: float) -> None:
        """Look for a collision."""
        monitor, outputs = robot.monitor, self._outputs
        if monitor is None or outputs is None or outputs.collision is None:
            return
        try:
            begins = monitor.update(state, efforts, robot, now)
        except MessageError as error:
            self._refusals.refuse("joint_states", error)
            return
        if monitor.state is state:
            outputs.collision.publish(monitor, begins, now)
            self._collisions.updated(monitor, state, begins)

    def _watch(self, robot: Robot, state: MeasuredState, efforts: Efforts) -> None:
        """Keep for the next report."""
        source = robot.acceleration_source
        self._window.accelerations[source] = self._window.accelerations.get(source, 0) + 1
        if state.effort is not None:
            expected = efforts.inverse_dynamics
            measured = total_effort(self._settings.measured_effort, state.effort, expected, efforts.gravity)
            self._window.squared_errors.append([(m - e) ** 2 for m, e in zip(measured, expected)])

    # ---- trajectories and services

    def _on_trajectory(self, message: JointTrajectory) -> None:
        def fill() -> None:
            robot = self._loaded("joint_names")
            effort_along(
                message,
                robot.model.joint_names,
                robot.batch,
                np.array(self._settings.gravity),
                np.array(robot.payload.at(time.monotonic())),
                self._settings.command_effort == "raw",
            )

        def publish(filled: Future[None]) -> None:
            try:
                filled.result()
            except MessageError as error:
                self._refusals.refuse("~/desired_trajectory", error)
                return
            self._with_effort.publish(message)

        self._aside(fill, publish)

    def _answer_with(self, fill: Callable[..., None]) -> Callable[[Any, Any], Any]:
        """A service that fills its response at the requested state."""

        def answer(request: Any, response: Any) -> Any:
            def act() -> None:
                robot, state = self._requested(request.state)
                fill(request, response, robot, state, time.monotonic())
                response.joint_names = list(robot.model.joint_names)

            return self._answer(response, act)

        return answer

    def _answer(self, response: Any, act: Callable[[], None]) -> Any:
        """Say in a response that something was done, or why it cannot be."""
        try:
            act()
            response.success = True
        except Ros2DynError as error:
            response.message = str(error)
        except Exception as error:
            self.get_logger().error(f"please report this fault:\n{format_exc()}")
            response.message = f"a fault of the node: {error!r}"
        return response

    def _requested(self, message: JointState) -> tuple[Robot, MeasuredState]:
        robot = self._loaded("state")
        if message.name:
            return robot, robot.order.given(message)
        if robot.state is None:
            raise MessageError("state", "empty", "no usable message has been received on joint_states either")
        return robot, robot.state

    async def _set_payload(self, request: SetPayload.Request, response: SetPayload.Response) -> SetPayload.Response:
        robot, prepared = self._robot, task.Future(executor=self.executor)
        if robot is not None and request.link in robot.model.link_names:
            self._aside(lambda: robot.prepare(request.link), prepared.set_result)
            await prepared
        return self._answer(response, lambda: set_payload(request, self._loaded("link"), time.monotonic()))

    def _loaded(self, field: str) -> Robot:
        if self._robot is None:
            raise MessageError(field, "no robot yet", "no robot_description has been received")
        return self._robot

    # ---- now and then

    def _look(self) -> None:
        """See who listens, and report once a second: every timer costs the executor time at each message."""
        if self._outputs is not None:
            self._outputs.look()
        self._collisions.look(time.monotonic())
        self._commander.look()
        self._take_waiting_desired()  # where no states come, those that are refused are reported all the same
        self._looks += 1
        if self._looks % LOOKS_PER_REPORT == 0:
            self._report()

    def _report(self) -> None:
        robot, window = self._robot, self._window
        refused = self._refusals.since_last_time()
        states = {reason: count for (topic, reason), count in refused.items() if topic == "joint_states"}
        others = {f"{topic}: {reason}": count for (topic, reason), count in refused.items() if topic != "joint_states"}
        age = time.monotonic() - self._last_state_at
        statuses = [
            diagnostics.states_status(window, age, self.count_publishers("joint_states"), states),
            diagnostics.tick_status(window),
            diagnostics.status(
                "inputs",
                diagnostics.WARN if others else diagnostics.OK,
                f"{sum(others.values())} messages refused" if others else "fine",
                others,
            ),
            diagnostics.mode_status(self._commander.guard),
            diagnostics.model_status(robot, self._warnings, time.monotonic()),
        ]
        if robot is not None and robot.state is not None:
            statuses.append(diagnostics.singularity_status(robot, robot.state))
        if robot is not None and robot.monitor is not None:
            statuses.append(diagnostics.collision_status(robot.monitor))
        name = "none" if robot is None else robot.model.name
        self._diagnostics.publish(diagnostics.report(self.get_clock().now().to_msg(), statuses, name))
        window.clear()


def main() -> int:
    """The executable `dynamics_node`."""
    return run_node(DynamicsNode)


if __name__ == "__main__":
    sys.exit(main())
