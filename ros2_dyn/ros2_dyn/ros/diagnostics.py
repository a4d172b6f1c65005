# SPDX-License-Identifier: Apache-2.0
"""The state of the node: one status for each concern, once a second on /diagnostics, as diagnostic_updater has them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node

from ros2_dyn.control.modes.base import ModeReport
from ros2_dyn.dynamics import singular_values
from ros2_dyn.dynamics.singularity import NEAR_SINGULARITY
from ros2_dyn.ros.event_log import EventLog
from ros2_dyn.runtime import ArmRuntime
from ros2_dyn.runtime.effort_convention import total_effort
from ros2_dyn.runtime.model_monitor import ModelDifference
from ros2_dyn.runtime.robot_dynamics import RobotDynamics
from ros2_dyn.runtime.states import MeasuredState
from ros2_dyn.runtime.update import Step

OK, WARN, ERROR, STALE = DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR, DiagnosticStatus.STALE


class Window:
    """What was counted and measured since the last report."""

    def __init__(self) -> None:
        self.last_state_at = -math.inf
        """When the newest state came, s."""
        self.clear()

    def clear(self) -> None:
        """Begin the next one."""
        self.states = 0
        self.periods: list[float] = []
        self.latencies: list[float] = []
        self.squared_errors: list[list[float]] = []
        self.accelerations: dict[str, int] = {}

    def add(self, step: Step, robot: RobotDynamics, now: float) -> None:
        """Take a state that was computed at a time, s."""
        self.states += 1
        if math.isfinite(self.last_state_at):
            self.periods.append(now - self.last_state_at)
        self.last_state_at = now
        terms, effort = step.terms, step.state.effort
        self.accelerations[terms.acceleration_source] = self.accelerations.get(terms.acceleration_source, 0) + 1
        if effort is not None:
            expected = terms.inverse_dynamics
            measured = total_effort(robot.settings.states.measured_effort, effort, expected, terms.gravity)
            self.squared_errors.append([(m - e) ** 2 for m, e in zip(measured, expected)])


def status(name: str, level: bytes, message: str, values: Mapping[str, Any]) -> DiagnosticStatus:
    """Return one concern."""
    pairs = [KeyValue(key=key, value=_text(value)) for key, value in values.items()]
    return DiagnosticStatus(name=f"dynamics: {name}", level=level, message=message, values=pairs)


def states_status(window: Window, now: float, publishers: int, rejected: Mapping[str, int]) -> DiagnosticStatus:
    """Return that of the measured states; `rejected` counts those of the window, and doubted ones, by reason."""
    rejected = dict(rejected)
    foreign, age = rejected.pop("foreign", 0), now - window.last_state_at
    total = sum(rejected.values())
    values = {
        "rate (Hz)": window.states,
        "jitter (ms)": 1e3 * float(np.std(window.periods)) if window.periods else math.nan,
        "age (s)": age,
        "publishers": publishers,
        "without any of the joints": foreign,
        **{f"rejected or doubted: {reason}": count for reason, count in rejected.items()},
    }
    if age == math.inf:
        why = "; messages arrive, but hold none of the joints" if foreign else ""
        why = f"; {total} messages rejected or doubted" if rejected else why
        return status("joint_states", STALE, f"no usable state yet{why}", values)
    if age > 1:
        return status("joint_states", ERROR, f"no usable state for {age:.1f} s", values)
    if rejected:
        return status("joint_states", WARN, f"{total} messages rejected or doubted", values)
    if publishers > 1:
        return status("joint_states", WARN, f"{publishers} publishers on one topic", values)
    return status("joint_states", OK, "fine", values)


def inputs_status(rejected: Mapping[str, int]) -> DiagnosticStatus:
    """Return that of the other inputs, with what was rejected of them."""
    if not rejected:
        return status("inputs", OK, "fine", {})
    return status("inputs", WARN, f"{sum(rejected.values())} messages rejected", rejected)


def tick_status(window: Window) -> DiagnosticStatus:
    """Return how long it takes from when a message is read to the last publication."""
    latencies, values = window.latencies or [math.nan], dict[str, Any]()
    for name, q in (("p50", 0.5), ("p99", 0.99), ("max", 1.0)):
        values[f"latency {name} (ms)"] = 1e3 * float(np.quantile(latencies, q))
    values |= {f"acceleration: {source}": count for source, count in window.accelerations.items()}
    if window.squared_errors:
        rms = np.sqrt(np.mean(window.squared_errors, axis=0))
        values["measured effort minus model's, RMS (N m or N)"] = ", ".join(f"{x:.3g}" for x in rms)
    source = max(window.accelerations, key=lambda name: window.accelerations[name], default="")
    return status("tick", OK, f"acceleration: {source}" if source else "idle", values)


def model_status(robot: RobotDynamics | None, warnings: Sequence[str], now: float) -> DiagnosticStatus:
    """Return what the robot is, what it carries, and what looks wrong in its description."""
    if robot is None:
        return status("model", STALE, "waiting for robot_description", {})
    model = robot.model
    values = {
        "robot": model.name,
        "joints": ", ".join(model.joint_names),
        "moving mass (kg)": float(sum(body.mass for body in model.inertia)),
        "tip link": robot.tip_link,
        "payload (kg)": float(robot.payload.at(now)[0]),
        **{f"warning {i}": text for i, text in enumerate(warnings, start=1)},
    }
    if warnings:
        return status("model", WARN, f"{len(warnings)} warnings", values)
    return status("model", OK, "fine", values)


def effort_status(found: ModelDifference | None) -> DiagnosticStatus:
    """Return how far the measured efforts are from the model's, and from what refuses a mode."""
    if found is None:
        return status("effort", STALE, "no measured effort to compare with the model", {})
    numbers = list(zip(found.joint_names, found.difference.tolist(), found.allowed.tolist()))
    values = {f"measured effort minus model's, {name} (N m or N)": difference for name, difference, _ in numbers}
    values |= {f"allowed, {name} (N m or N)": allowed for name, _, allowed in numbers}
    joint, ratio = found.joint_names[found.worst], float(found.ratio[found.worst])
    if ratio > 0.5:
        text = f"'{joint}' differs from the model by {100 * ratio:.0f} % of what is allowed"
        return status("effort", WARN, text, values)
    return status("effort", OK, "as the model expects", values)


def singularity_status(robot: RobotDynamics, state: MeasuredState) -> DiagnosticStatus:
    """Return how far the tip is from a singularity."""
    J, _ = robot.kernels.tip(state.q)
    smallest = float(singular_values(np.array(J))[-1])
    values = {"smallest singular value": smallest, "threshold": NEAR_SINGULARITY}
    level, message = (WARN, "near a singularity") if smallest < NEAR_SINGULARITY else (OK, "far from any")
    return status("singularity", level, message, values)


def collision_status(runtime: ArmRuntime, robot: RobotDynamics) -> DiagnosticStatus:
    """Return what the collision detector knows."""
    seen, names = runtime.collision, robot.model.joint_names
    if runtime.detector_blind:
        return status("collision", ERROR, "blind: joint_states gives no usable effort", {})
    if seen is None:
        return status("collision", STALE, "joint_states gives no effort of all joints", {})
    values: dict[str, Any] = {f"external effort, {name} (N m or N)": r for name, r in zip(names, seen.residual)}
    values |= {f"threshold, {name} (N m or N)": e for name, e in zip(names, seen.threshold)}
    values["observer restarts"] = max(0, seen.restarts)
    if runtime.collision_latched:
        return status("collision", ERROR, "collision: ~/reset_collision ends it", values)
    if all(math.isinf(e) for e in seen.threshold):
        return status("collision", OK, "no thresholds are set: see ~/calibrate_collision", values)
    return status("collision", OK, "none", values)


def mode_status(runtime: ArmRuntime, interventions: Mapping[str, int]) -> DiagnosticStatus:
    """Return what is commanded, and how often each kind of warning came since the start: see `EventLog`."""
    values = {
        "mode": runtime.mode,
        "commands": runtime.commands,
        **{f"warnings: {k}": n for k, n in interventions.items()},
    }
    mode = runtime.active_mode
    report = ModeReport() if mode is None else mode.report()
    values |= report.numbers
    if report.warning:
        return status("mode", WARN, report.warning, values)
    if runtime.reason:
        return status("mode", WARN, f"{runtime.mode}, since {runtime.reason}", values)
    return status("mode", OK, runtime.mode, values)


def loop_status(runtime: ArmRuntime) -> DiagnosticStatus:
    """Return how late the loop is."""
    loop = runtime.loop
    values = {"delay (ms)": 1e3 * loop.longest, "of it, way of the commands (ms)": 1e3 * loop.command_delay}
    if problem := loop.clock_problem:
        return status("loop", WARN, f"{problem}, which hides how old states are", values)
    if loop.swing.delay > loop.longest:
        text = "the arm has swung, gains are reduced: are its joints elastic, or does commands.delay lack a delay?"
        return status("loop", WARN, text, values)
    return status("loop", OK, "fine", values)


class Diagnostics:
    """Publishes the state of a node's runtime.

    This is what `diagnostic_updater` does. That package is no Python package that one could install where ROS 2 comes
    from wheels, and so it would be needed beside this.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._publisher = node.create_publisher(DiagnosticArray, "/diagnostics", 10)

    def publish(self, runtime: ArmRuntime, window: Window, log: EventLog, now: float) -> None:
        """Publish what has come to pass since the last time, at a time of the runtime, s."""
        rejected = log.take_rejected()
        states = {reason: n for (topic, reason), n in rejected.items() if topic == "joint_states"}
        others = {f"{topic}: {reason}": n for (topic, reason), n in rejected.items() if topic != "joint_states"}
        robot, state = runtime.robot, runtime.state
        statuses = [
            states_status(window, now, self._node.count_publishers("joint_states"), states),
            tick_status(window),
            inputs_status(others),
            mode_status(runtime, log.interventions),
            loop_status(runtime),
            model_status(robot, runtime.warnings, now),
        ]
        if robot is not None and state is not None:
            statuses += [singularity_status(robot, state), effort_status(runtime.model_difference(now))]
        if robot is not None and robot.settings.collision.observes:
            statuses.append(collision_status(runtime, robot))
        message = DiagnosticArray(status=statuses)
        for each in statuses:
            each.hardware_id = "none" if robot is None else robot.model.name
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(message)
        window.clear()


def _text(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
