"""How the node is: a status for each concern, once a second on /diagnostics, as diagnostic_updater has them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from ros2_dyn.control.effort_guard import EffortGuard
from ros2_dyn.dynamics import singular_values
from ros2_dyn.ros.collision_monitor import CollisionMonitor, tip_kernel
from ros2_dyn.ros.robot import Robot
from ros2_dyn.ros.state_intake import MeasuredState

OK, WARN, ERROR, STALE = DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR, DiagnosticStatus.STALE


class Window:
    """What was counted and measured since the last report."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Begin the next one."""
        self.states = 0
        self.foreign = 0
        self.periods: list[float] = []
        self.latencies: list[float] = []
        self.squared_errors: list[list[float]] = []
        self.accelerations: dict[str, int] = {}


def status(name: str, level: bytes, message: str, values: Mapping[str, Any]) -> DiagnosticStatus:
    """One concern."""
    pairs = [KeyValue(key=key, value=_text(value)) for key, value in values.items()]
    return DiagnosticStatus(name=f"dynamics: {name}", level=level, message=message, values=pairs)


def states_status(window: Window, age: float, publishers: int, refused: Mapping[str, int]) -> DiagnosticStatus:
    """The stream of measured states; `refused` counts those of the window by reason."""
    values = {
        "rate (Hz)": window.states,
        "jitter (ms)": 1e3 * float(np.std(window.periods)) if window.periods else math.nan,
        "age (s)": age,
        "publishers": publishers,
        "without any of the joints": window.foreign,
        **{f"refused: {reason}": count for reason, count in refused.items()},
    }
    if age == math.inf:
        why = "; messages come, but hold none of the joints" if window.foreign else ""
        why = f"; {sum(refused.values())} messages refused" if refused else why
        return status("joint_states", STALE, f"no usable state yet{why}", values)
    if age > 1:
        return status("joint_states", ERROR, f"no usable state for {age:.1f} s", values)
    if refused:
        return status("joint_states", WARN, f"{sum(refused.values())} messages refused", values)
    if publishers > 1:
        return status("joint_states", WARN, f"{publishers} publishers on one topic", values)
    return status("joint_states", OK, "fine", values)


def tick_status(window: Window) -> DiagnosticStatus:
    """How long it takes from a state's arrival to the last publication."""
    ordered = sorted(window.latencies)
    values: dict[str, Any] = {f"latency {name} (ms)": 1e3 * _quantile(ordered, q) for name, q in QUANTILES.items()}
    values |= {f"acceleration: {source}": count for source, count in window.accelerations.items()}
    if window.squared_errors:
        rms = np.sqrt(np.mean(window.squared_errors, axis=0))
        values["measured effort, less the model's, RMS (N m or N)"] = ", ".join(f"{x:.3g}" for x in rms)
    source = max(window.accelerations, key=lambda name: window.accelerations[name], default="")
    return status("tick", OK, f"acceleration: {source}" if source else "idle", values)


def model_status(robot: Robot | None, warnings: Sequence[str], now: float) -> DiagnosticStatus:
    """What the robot is, what it carries, and what looks wrong in its description."""
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


def singularity_status(robot: Robot, state: MeasuredState) -> DiagnosticStatus:
    """How far the tip is from one."""
    J, _ = tip_kernel(robot.model, robot.tip_link)(state.q)
    least = float(singular_values(np.array(J))[-1])
    threshold = robot.settings.singularity_threshold
    values = {"smallest singular value": least, "threshold": threshold}
    level, message = (WARN, "near a singularity") if least < threshold else (OK, "far from any")
    return status("singularity", level, message, values)


def collision_status(monitor: CollisionMonitor) -> DiagnosticStatus:
    """What the collision detector knows."""
    names, detector = monitor.model.joint_names, monitor.detector
    values: dict[str, Any] = {f"external effort, {name} (N m or N)": r for name, r in zip(names, monitor.residual)}
    values |= {f"threshold, {name} (N m or N)": e for name, e in zip(names, detector.threshold)}
    values["observer begun anew"] = max(0, monitor.restarts)
    if detector.collision:
        return status("collision", ERROR, "collision: ~/reset_collision ends it", values)
    if monitor.state is None:
        return status("collision", STALE, "joint_states gives no effort of all joints", values)
    if all(math.isinf(e) for e in detector.threshold):
        return status("collision", OK, "no thresholds are set: see ~/calibrate_collision", values)
    return status("collision", OK, "none", values)


def mode_status(guard: EffortGuard | None) -> DiagnosticStatus:
    """What is commanded, and how often the guard intervened since the start."""
    if guard is None:
        return status("mode", OK, "monitor", {"mode": "monitor"})
    values = {"mode": guard.mode, "commands": guard.commands, **{f"guard: {k}": n for k, n in guard.count.items()}}
    if guard.reason:
        return status("mode", WARN, f"{guard.mode}, since {guard.reason}", values)
    return status("mode", OK, guard.mode, values)


QUANTILES = {"p50": 0.5, "p99": 0.99, "max": 1.0}


def _quantile(ordered: list[float], q: float) -> float:
    return ordered[min(len(ordered) - 1, int(q * len(ordered)))] if ordered else math.nan


def report(stamp: Any, statuses: list[DiagnosticStatus], robot: str) -> DiagnosticArray:
    """All concerns, of one robot."""
    for each in statuses:
        each.hardware_id = robot
    message = DiagnosticArray(status=statuses)
    message.header.stamp = stamp
    return message


def _text(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
