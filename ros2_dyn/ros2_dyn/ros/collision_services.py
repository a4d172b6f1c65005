"""Calibration and reset of the collision detector, and what is called when it detects a collision."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from rclpy import task
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.client import Client
from rclpy.node import Node
from rclpy.parameter import Parameter
from ros2_dyn_interfaces.srv import GetCollisionResiduals
from std_srvs.srv import Trigger

from ros2_dyn.errors import InputError
from ros2_dyn.estimation.calibration import Calibration
from ros2_dyn.ros.collision_monitor import CollisionMonitor
from ros2_dyn.ros.collision_outputs import CollisionOutputs
from ros2_dyn.ros.state_intake import MeasuredState

MIN_SHARE = 1e-3
"""No calibrated threshold is below this share of the joint's effort limit."""


class Recording:
    """A calibration that runs: what it collects, until when, and who waits for its end."""

    def __init__(self, monitor: CollisionMonitor, deadline: float, done: task.Future) -> None:
        self.collected = Calibration(monitor.model.joint_names)
        self.monitor, self.restarts = monitor, monitor.restarts
        self.deadline, self.done = deadline, done


class CollisionServices:
    """What a node answers about collisions, for the monitor that it has at the time."""

    def __init__(self, node: Node, answer: Callable[[Any, Callable[[], None]], Any]) -> None:
        """Create the services.

        Args:
            node: the node.
            answer: fills a response by an action, and says in it why that failed.
        """
        self._node, self._answer = node, answer
        self._monitor: CollisionMonitor | None = None
        self._outputs: CollisionOutputs | None = None
        self._recording: Recording | None = None
        self._client: Client | None = None
        self._reaction = ""
        alone = MutuallyExclusiveCallbackGroup()  # states go on while it listens
        node.create_service(Trigger, "~/calibrate_collision", self._calibrate, callback_group=alone)
        node.create_service(Trigger, "~/reset_collision", self._reset)
        node.create_service(GetCollisionResiduals, "~/get_collision_residuals", self._residuals)

    def serve(self, monitor: CollisionMonitor | None, outputs: CollisionOutputs | None, reaction: str) -> None:
        """Go on with another monitor, or with none; a calibration that runs is given up."""
        self._monitor, self._outputs = monitor, outputs
        self.finish()
        if reaction != self._reaction:
            if self._client is not None:
                self._node.destroy_client(self._client)
            self._client = self._node.create_client(Trigger, reaction) if reaction else None
            self._reaction = reaction

    def updated(self, monitor: CollisionMonitor, state: MeasuredState, begins: bool) -> None:
        """The monitor has taken a state; a collision begins or not."""
        if self._recording is not None:
            self._recording.collected.update(monitor.t, monitor.residual, state.qd)
        if begins:
            self._react(monitor)

    def look(self, now: float) -> None:
        """End a calibration whose time is over. To be called a few times a second."""
        if self._recording is not None and now >= self._recording.deadline:
            self.finish()

    def finish(self) -> None:
        """End the calibration."""
        recording, self._recording = self._recording, None
        if recording is not None:
            recording.done.set_result(recording)

    def _react(self, monitor: CollisionMonitor) -> None:
        link = monitor.contact().link
        self._node.get_logger().error(f"collision{f' on {link}' if link else ''}: ~/reset_collision ends it")
        if self._client is None:
            return
        if self._client.service_is_ready():
            self._client.call_async(Trigger.Request()).add_done_callback(self._reacted)
        else:
            self._node.get_logger().error(f"nobody offers the collision_service {self._reaction}")

    def _reacted(self, future: task.Future) -> None:
        response = future.result()
        if response is None or not response.success:
            why = "no answer" if response is None else response.message
            self._node.get_logger().error(f"the collision_service failed: {why}")

    def _watching(self) -> CollisionMonitor:
        if self._monitor is None:
            raise InputError("detect_collisions", "there is no robot yet, or this parameter is false")
        if self._monitor.state is None:
            raise InputError("effort", "joint_states has not given an effort of all joints yet")
        return self._monitor

    def _residuals(self, request: Any, response: GetCollisionResiduals.Response) -> GetCollisionResiduals.Response:
        def fill() -> None:
            monitor = self._watching()
            assert self._outputs is not None
            state, found = self._outputs.state(monitor), monitor.wrench()
            for field in ("joint_names", "residual", "threshold", "exceeded", "collision", "contact_link"):
                setattr(response, field, getattr(state, field))
            response.stamp = state.header.stamp
            if found.wrench:
                self._outputs.fill_wrench(response.external_wrench, found.wrench, monitor)
            else:
                response.message = f"no external_wrench: {found.reason}"

        return self._answer(response, fill)

    def _reset(self, request: Any, response: Trigger.Response) -> Trigger.Response:
        def reset() -> None:
            self._watching().detector.reset()
            assert self._outputs is not None
            self._outputs.stop(False)

        return self._answer(response, reset)

    async def _calibrate(self, request: Any, response: Trigger.Response) -> Trigger.Response:
        """Listen, then set thresholds."""
        recording: Recording | None = None
        if self._monitor is not None and self._monitor.state is not None:
            seconds = self._node.get_parameter("calibration_time").value
            done = task.Future(executor=self._node.executor)
            self._recording = Recording(self._monitor, time.monotonic() + seconds, done)
            recording = await done
        return self._answer(response, lambda: self._set_thresholds(recording, response))

    def _set_thresholds(self, recording: Recording | None, response: Trigger.Response) -> None:
        monitor = self._watching()
        if recording is None:
            raise InputError("effort", "joint_states gave no effort when the calibration was to begin: try again")
        if monitor is not recording.monitor:
            raise InputError("parameters", "the robot, or parameters, were changed while it listened: try again")
        if monitor.restarts != recording.restarts:
            raise InputError("joint_states", "states were missing, or time was set back, while it listened: try again")
        model, rate = monitor.model, self._node.get_parameter("false_alarms_per_hour").value
        least = [MIN_SHARE * limit if limit < float("inf") else 0.0 for limit in model.effort_limit]
        found = [float(f"{e:.4g}") for e in recording.collected.thresholds(rate, least)]
        names = list(model.joint_names)
        parameters = [Parameter("joints", value=names), Parameter("collision_threshold", value=found)]
        result = self._node.set_parameters_atomically(parameters)
        if not result.successful:
            raise InputError("collision_threshold", result.reason)
        response.message = f"joints: {names}, collision_threshold: {found}".replace("'", '"')
