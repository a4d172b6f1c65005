# SPDX-License-Identifier: Apache-2.0
"""The node `dynamics`: wiring between messages and the runtime, which decides everything."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from geometry_msgs.msg import PoseStamped, WrenchStamped
from rcl_interfaces.msg import SetParametersResult
from rclpy.clock import Clock, ClockType
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message
from ros2_dyn_interfaces.msg import HybridTarget
from ros2_dyn_interfaces.msg import Payload as PayloadMessage
from ros2_dyn_interfaces.srv import (
    EstimatePayload,
    GetCollisionResiduals,
    GetDynamics,
    GetJacobian,
    SetMode,
    SetPayload,
    WrenchToTorque,
)
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, String
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from ros2_dyn.control.events import rejection
from ros2_dyn.errors import InputError, MessageError, Ros2DynError
from ros2_dyn.model import RobotModel
from ros2_dyn.ros.black_box_writer import make_runtime
from ros2_dyn.ros.cdr_reader import CdrReader, DesiredReader, JointStateReader, PoseReader, WrenchReader
from ros2_dyn.ros.coroutines import LateService, start
from ros2_dyn.ros.description import described
from ros2_dyn.ros.diagnostics import Diagnostics
from ros2_dyn.ros.executor import ServedNode
from ros2_dyn.ros.handover_services import HandoverServices
from ros2_dyn.ros.messages import hybrid_sample, joint_sample, payload_message, payload_request
from ros2_dyn.ros.node_base import LATCHED, run_node
from ros2_dyn.ros.node_driver import NodeDriver
from ros2_dyn.ros.parameters import changed_settings, declare_settings
from ros2_dyn.ros.payload_service import tell_driver
from ros2_dyn.ros.services import fill_dynamics, fill_jacobian, fill_residuals, fill_torque, respond
from ros2_dyn.ros.trajectory_process import TrajectoryProcess
from ros2_dyn.runtime import PayloadQuestion, PayloadRequest, Reply
from ros2_dyn.runtime.handover_protocol import Refused
from ros2_dyn.runtime.inputs import (
    CollisionCalibration,
    CollisionReset,
    Description,
    EnableSignal,
    ModeRequest,
    SettingsChange,
)
from ros2_dyn.runtime.payload_change import MIN_RAMP_TIME

TRAJECTORIES = "~/desired_trajectory"


class DynamicsNode(ServedNode):
    """Joint efforts of any URDF robot, from its measured and desired states."""

    def __init__(self) -> None:
        super().__init__("dynamics", automatically_declare_parameters_from_overrides=True)
        settings = declare_settings(self)
        self._diagnostics = Diagnostics(self)
        self._with_effort = self.create_publisher(JointTrajectory, "~/trajectory_with_effort", 10)
        self._payload = self.create_publisher(PayloadMessage, "~/payload", LATCHED)
        text = described(settings.description)
        self._description = text or ""
        robot = None if text is None else RobotModel.from_urdf(text)
        self._runtime = make_runtime(robot, settings, self.get_logger())
        self._driver = NodeDriver(self, self._runtime)
        self._trajectories, self._trajectory_topic = TrajectoryProcess(), self.resolve_topic_name(TRAJECTORIES)
        self._reports = False
        self._subscribe()
        self._serve()
        self.add_on_set_parameters_callback(self._on_parameters)
        steady = Clock(clock_type=ClockType.STEADY_TIME)  # goes on where simulated time stands still
        self.create_timer(0.5, self._refresh, clock=steady)

    def _subscribe(self) -> None:
        """Subscribe. The ordinary executor reads what waits in this order: targets first, joint states last."""
        wrenches = self._reads("~/desired_wrench", WrenchReader())
        poses = self._reads("~/desired_pose", PoseReader())
        desired = self._reads("~/desired", DesiredReader())
        states = self._reads("joint_states", JointStateReader())
        depth = 10  # of states and of desired states alike, so that a node that is held up loses as many of each
        for kind, topic, callback, qos in (
            (Bool, "~/enable", self._on_enable, 1),
            (WrenchStamped, "~/desired_wrench", wrenches, 1),
            (PoseStamped, "~/desired_pose", poses, 1),
            (JointTrajectory, "~/desired", desired, depth),
            (JointTrajectory, TRAJECTORIES, self._on_trajectory, 10),
        ):
            self.create_subscription(kind, topic, callback, qos, raw=True)
        self.create_subscription(HybridTarget, "~/desired_hybrid", self._on_hybrid, 1)
        best_effort = QoSProfile(depth=depth, reliability=ReliabilityPolicy.BEST_EFFORT)
        newest = lambda: self._runtime.commands  # noqa: E731  # a command that is computed from an older one is late
        self.create_subscription(JointState, "joint_states", states, best_effort, newest=newest, raw=True)
        if self._runtime.robot is None:
            self.get_logger().info("waiting for the topic robot_description")
            self.create_subscription(String, "robot_description", self._on_description, LATCHED)

    def _serve(self) -> None:
        """Create the services."""
        self.create_service(GetJacobian, "~/get_jacobian", self._computes(fill_jacobian))
        self.create_service(WrenchToTorque, "~/wrench_to_torque", self._computes(fill_torque))
        self.create_service(GetDynamics, "~/get_dynamics", self._computes(fill_dynamics))
        self.create_service(GetCollisionResiduals, "~/get_collision_residuals", self._residuals)
        for kind, name, callback in (
            (SetMode, "~/set_mode", self._set_mode),
            (SetPayload, "~/set_payload", self._set_payload),
            (EstimatePayload, "~/estimate_payload", self._estimate_payload),
            (Trigger, "~/reset_collision", self._reset_collision),
            (Trigger, "~/calibrate_collision", self._calibrate_collision),
        ):
            LateService(self, kind, name, callback)
        HandoverServices(self, self._driver)

    def destroy_node(self) -> None:
        """End; what is commanded passes to the failsafe process first."""
        for name in ("_driver", "_trajectories"):
            if (part := getattr(self, name, None)) is not None:  # rclpy also destroys nodes that could not be made
                part.close()
        super().destroy_node()

    # ---- messages

    def _reads(self, topic: str, reader: CdrReader[Any]) -> Callable[[bytes], None]:
        """Return a callback that reads a serialised message of a topic and gives it to the runtime."""
        driver, window = self._driver, self._driver.window

        def on_message(raw: bytes) -> None:
            started = time.perf_counter()
            try:
                sample = reader.read(raw, driver.received())
            except MessageError as error:
                driver.log.add([rejection(topic, error)])
                return
            if driver.step(sample).steps:
                window.latencies.append(time.perf_counter() - started)

        return on_message

    def _on_enable(self, raw: bytes) -> None:
        pressed = deserialize_message(raw, Bool).data
        self._driver.step(EnableSignal(pressed))

    def _on_hybrid(self, message: HybridTarget) -> None:
        sample = hybrid_sample(message, self._driver.received())
        self._driver.step(sample)

    def _on_description(self, message: String) -> None:
        if message.data != self._description:
            self._description = message.data
            self._driver.step(Description(message.data))

    def _on_trajectory(self, raw: bytes) -> None:
        start(self._add_efforts(raw))

    async def _add_efforts(self, raw: bytes) -> None:
        """Pass a serialised trajectory to its process, and publish what comes back."""
        try:
            task = self._runtime.trajectory_task(self._driver.now())
            self._with_effort.publish(await self._driver.result(self._trajectories.compute(raw, task)))
        except MessageError as error:
            self._driver.log.add([rejection(TRAJECTORIES, error)])
        except Ros2DynError as error:
            self.get_logger().error(str(error))

    def _on_parameters(self, changes: Sequence[Parameter]) -> SetParametersResult:
        """Take all changes or none."""
        try:
            settings = changed_settings(self, changes)
        except Ros2DynError as error:
            return SetParametersResult(reason=str(error))
        update = self._driver.step(SettingsChange(settings, "parameters"))
        problem = next(reply.error for reply in update.replies if reply.request == "parameters")
        return SetParametersResult(successful=problem is None, reason=str(problem or ""))

    # ---- services

    def _computes(self, fill: Callable[..., None]) -> Callable[[Any, Any], Any]:
        """Return a service that fills its response at the requested state."""

        def answer(request: Any, response: Any) -> Any:
            def act() -> None:
                state = self._runtime.requested_state(joint_sample(request.state))
                robot = self._runtime.require_robot("state")
                fill(request, response, robot, state, self._driver.now())
                response.joint_names = list(robot.model.joint_names)

            return respond(self, response, act)

        return answer

    def _residuals(self, request: Any, response: GetCollisionResiduals.Response) -> GetCollisionResiduals.Response:
        return respond(self, response, lambda: fill_residuals(response, self._runtime))

    async def _set_mode(self, request: SetMode.Request, response: SetMode.Response) -> SetMode.Response:
        self._driver.see_link()
        self._driver.count_state_publishers()
        return _filled(response, await self._driver.request(ModeRequest(request.mode)))

    async def _set_payload(self, request: SetPayload.Request, response: SetPayload.Response) -> SetPayload.Response:
        try:
            problem = await self._carry(payload_request(request))
        except InputError as error:
            problem = str(error)
        response.success, response.message = not problem, problem
        return response

    async def _estimate_payload(
        self, request: EstimatePayload.Request, response: EstimatePayload.Response
    ) -> EstimatePayload.Response:
        """Observe a motion, publish what is carried, and set it if that is asked for."""
        reply = await self._driver.request(PayloadQuestion(request.link, request.duration, request.tare))
        if reply.error is not None or reply.value is None:
            return _filled(response, reply)
        link, _, found = reply.value
        response.payload = payload_message(reply.value)
        self._payload.publish(response.payload)
        payload = PayloadRequest(link, found.parameters.tolist(), MIN_RAMP_TIME)
        problem = await self._carry(payload) if request.apply else ""
        response.success = not problem
        response.message = f"{found}; {problem}" if problem else str(found)
        return response

    async def _carry(self, payload: PayloadRequest) -> str:
        """Set a payload here and in the driver; return why that failed, or an empty string."""
        reply = await self._driver.request(payload)
        if reply.error is not None:
            return f"it is not set: {reply.error}"
        robot = self._runtime.require_robot("link")
        if not (service := robot.settings.outputs.payload_service):
            return ""
        try:
            if self._runtime.commands:
                raise Refused(f"its efforts would change at once while {self._runtime.mode} commands")
            carried = payload._replace(link=robot.payload.link)
            await tell_driver(self, service, carried, robot.model, self._driver.now)
        except (Ros2DynError, Refused) as error:
            return f"it is set here, but the driver is not told: {error}"
        return ""

    async def _reset_collision(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        reply = await self._driver.request(CollisionReset())
        self._driver.publish_collision_stop()
        return _filled(response, reply)

    async def _calibrate_collision(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """Observe a free motion, then set its thresholds as parameters."""
        reply = await self._driver.request(CollisionCalibration())
        if reply.error is not None:
            return _filled(response, reply)
        robot = self._runtime.require_robot("joints")
        names = list(robot.settings.robot.joints or robot.model.joint_names)
        by_name = dict(zip(robot.model.joint_names, reply.value))
        found = [by_name[name] for name in names]
        parameters = [Parameter("robot.joints", value=names), Parameter("collision.threshold", value=found)]
        result = self.set_parameters_atomically(parameters)
        response.success, response.message = result.successful, result.reason
        if result.successful:
            response.message = f"robot.joints: {names}, collision.threshold: {found}".replace("'", '"')
        return response

    # ---- now and then

    def _refresh(self) -> None:
        """See who subscribes, and report once a second: every timer costs the executor time at each message."""
        self._driver.refresh(self._description)
        if self.count_publishers(self._trajectory_topic) and self._runtime.robot is not None:
            self._trajectories.prepare(self._runtime.trajectory_task(self._driver.now()))
        self._reports = not self._reports
        if self._reports:
            self._diagnostics.publish(self._runtime, self._driver.window, self._driver.log, self._driver.now())


def _filled(response: Any, reply: Reply) -> Any:
    """Return a response that bears a reply."""
    response.success = reply.error is None
    response.message = "" if reply.error is None else str(reply.error)
    return response


def main() -> int:
    """The executable `dynamics_node`."""
    return run_node(DynamicsNode)


if __name__ == "__main__":
    sys.exit(main())
