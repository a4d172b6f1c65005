# SPDX-License-Identifier: Apache-2.0
"""Desired states, wrenches and poses for the modes that follow them: slow sinusoids, and the faults of such targets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np

from ros2_dyn.model.spatial import Array, quaternion_from_rotation
from ros2_dyn.runtime.inputs import DesiredSample, HybridSample, PoseSample, WrenchSample

Target = DesiredSample | WrenchSample | PoseSample | HybridSample
TargetFault = Callable[[list[Any]], list[Any]]
"""Function from the messages of one instant, one of each kind, to those sent instead."""
MESSAGES_OF_ONE_CHOICE = 3
"""Number of hybrid targets in sequence with the same axes."""
AXES = np.arange(3.0)
"""Phases of what is desired along the axes of the base, rad."""


@dataclass(frozen=True)
class TargetQuality:
    """Which targets are published."""

    period: float = 0.02
    """Period of the messages, s."""
    amplitude: float = 0.1
    """Amplitude of the desired positions, rad or m, and of the way of the desired pose from the tip, m."""
    frequency: float = 2.0
    """Angular frequency of all, rad/s."""
    force: float = 8.0
    """Amplitude of the components of the desired force, N."""
    pose_in_base: bool = False
    """Whether poses are desired in the base frame, around where the tip was, instead of in the tip's frame."""
    pressed_axes: tuple[bool, ...] = ()
    """Along and about which axes of the pose's frame the wrench is exerted, shape (6,); empty: pose and wrench are
    messages of their own."""
    stamped: bool = False
    """Whether a desired state follows each measured state with the same stamp, instead of once a period."""


class TargetGenerator:
    """Publishes desired states around a centre, a desired wrench in the axes of the base, and a pose near the tip."""

    def __init__(self, joint_names: Sequence[str], tip: str, quality: TargetQuality) -> None:
        """Create a generator without faults, around zero."""
        self.quality = quality
        self.faults: list[TargetFault] = []
        """Faults that are active, applied in this order."""
        self._names = tuple(joint_names)
        self._phase = np.arange(len(self._names), dtype=float)
        self.centre = np.zeros(len(self._names))
        """Centre of the desired positions, rad or m, shape (n,)."""
        self._frame, self._pose = tip, [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]

    def move_to(self, q: Array, t: float, tip_pose: Callable[[], Array]) -> None:
        """Shift the motion so that it begins at a time, s.

        Args:
            q: joint positions then, rad or m, shape (n,).
            t: the time.
            tip_pose: returns the pose of the tip in the base frame then, shape (4, 4).
        """
        self.centre = q - self._offset(t)
        if self.quality.pose_in_base:
            pose = tip_pose()
            start = pose[:3, 3] - self.way(t)
            self._frame, self._pose = "", [*start.tolist(), *quaternion_from_rotation(pose[:3, :3]).tolist()]

    def _offset(self, t: float) -> Array:
        return self.quality.amplitude * np.sin(self.quality.frequency * t + self._phase)

    def force(self, t: float) -> Array:
        """Return the desired force at a time, s, in the axes of the base, N, shape (3,)."""
        return self.quality.force * self._along_axes(t)

    def way(self, t: float) -> Array:
        """Return the way of the desired pose at a time, s, in the axes of its frame, m, shape (3,)."""
        return self.quality.amplitude * self._along_axes(t)

    def way_to_pose(self, t: float, tip: Array) -> Array:
        """Return the way to the desired pose at a time, s, from the tip's, (4, 4), in base axes, m, shape (3,)."""
        way = self.way(t) + self._pose[:3]
        return way - tip[:3, 3] if self.quality.pose_in_base else tip[:3, :3] @ way

    def _along_axes(self, t: float) -> Array:
        return np.sin(self.quality.frequency * t + AXES)

    def messages(self, t: float, stamp: int) -> list[Target]:
        """Return the messages at a time, s, under a stamp, ns."""
        quality, phase = self.quality, self.quality.frequency * t + self._phase
        rate = quality.amplitude * quality.frequency
        sine, along_axes = np.sin(phase), self._along_axes(t)
        force, way = quality.force * along_axes, quality.amplitude * along_axes
        messages: list[Target] = [
            DesiredSample(
                stamp,
                self._names,
                (self.centre + quality.amplitude * sine).tolist(),
                (rate * np.cos(phase)).tolist(),
                (-rate * quality.frequency * sine).tolist(),
            ),
            WrenchSample(stamp, "", [*force.tolist(), 0.0, 0.0, 0.0]),
            PoseSample(stamp, self._frame, [*(way + self._pose[:3]).tolist(), *self._pose[3:]]),
        ]
        if quality.pressed_axes:
            messages = hybrid(messages, quality.pressed_axes)
        for fault in self.faults:
            messages = fault(messages)
        return messages


def hybrid(messages: Sequence[Any], pressed_axes: Sequence[bool]) -> list[Target]:
    """Return messages with one of pose and wrench in the place of both, where there are both.

    Args:
        messages: of one instant.
        pressed_axes: along and about which axes of the pose's frame the wrench is exerted, shape (6,).
    """
    wrenches = [each for each in messages if isinstance(each, WrenchSample)]
    poses = [each for each in messages if isinstance(each, PoseSample)]
    if not (wrenches and poses):
        return list(messages)
    wrench = [x if pressed else 0.0 for x, pressed in zip(wrenches[0].wrench, pressed_axes)]
    stamp, frame, pose = poses[0][:3]
    others = [each for each in messages if not isinstance(each, (WrenchSample, PoseSample))]
    return [*others, HybridSample(stamp, frame, pose, wrench, tuple(pressed_axes))]


# ---- faults; each function draws the parameters of one fault


def stop_targets(rng: np.random.Generator) -> TargetFault:
    """Send nothing."""
    return lambda messages: []


def move_targets(rng: np.random.Generator) -> TargetFault:
    """Send desired positions, forces and poses that are far off."""
    shift, factor = float(rng.uniform(-3, 3)), float(10 ** rng.uniform(1, 4))

    def moved(message: Target) -> Target:
        if isinstance(message, (WrenchSample, HybridSample)):
            return message._replace(wrench=[factor * x for x in message.wrench])
        if isinstance(message, PoseSample):
            return message._replace(pose=[shift, *message.pose[1:3], 0.6, 0.0, 0.0, 0.8])
        return message._replace(positions=[x + shift for x in message.positions])

    return lambda messages: [moved(message) for message in messages]


def break_targets(rng: np.random.Generator) -> TargetFault:
    """Send NaN or huge numbers."""
    value = (nan, 1e15, 1e300)[int(rng.integers(3))]

    def broken(message: Target) -> Target:
        if isinstance(message, (WrenchSample, HybridSample)):
            return message._replace(wrench=[value] * 6)
        if isinstance(message, PoseSample):
            return message._replace(pose=[value] * 7)
        return message._replace(accelerations=[value] * len(message.names))

    return lambda messages: [broken(message) for message in messages]


def mislabel_targets(rng: np.random.Generator) -> TargetFault:
    """Send targets of other joints, in another frame, of a wrong length, or with stamps of another time."""
    kind = int(rng.integers(3))

    def fault(messages: list[Any]) -> list[Any]:
        changed = []
        for message in messages:
            if isinstance(message, (WrenchSample, PoseSample, HybridSample)):
                changed.append(message._replace(frame="nowhere"))
            elif kind == 0:
                changed.append(message._replace(names=("nobody", *message.names[1:])))
            elif kind == 1:
                changed.append(message._replace(accelerations=message.accelerations[:-1]))
            else:
                changed.append(message._replace(stamp=max(message.stamp - 10**9, 1)))
        return changed

    return fault


def mix_targets(rng: np.random.Generator) -> TargetFault:
    """Send hybrid targets instead of poses and wrenches, with other axes from one time to the next."""
    choices = [random_axes(rng) for _ in range(int(rng.integers(1, 4)))]
    count = [0]

    def fault(messages: list[Any]) -> list[Any]:
        count[0] += 1
        return hybrid(messages, choices[count[0] // MESSAGES_OF_ONE_CHOICE % len(choices)])

    return fault


def random_axes(rng: np.random.Generator) -> tuple[bool, ...]:
    """Return along which axes a hybrid target presses."""
    return tuple((rng.random(6) < 0.4).tolist())


TARGET_FAULTS: dict[str, Callable[[np.random.Generator], TargetFault]] = {
    "targets stop": stop_targets,
    "targets far": move_targets,
    "targets break": break_targets,
    "targets mislabelled": mislabel_targets,
    "targets mixed": mix_targets,
}
"""Faults of targets by name; each function draws the parameters of one."""
