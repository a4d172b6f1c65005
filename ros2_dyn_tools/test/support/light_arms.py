# SPDX-License-Identifier: Apache-2.0
"""Light arms in virtual time: in any mode through late loops, and in mode impedance while a desired pose moves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pytest

from ros2_dyn.control.modes.impedance import Spring
from ros2_dyn.dynamics import forward_kinematics, jacobian, mass_matrix
from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import quaternion_from_rotation
from ros2_dyn.runtime import HybridSample, JointSample, PoseSample, Settings, WrenchSample
from ros2_dyn.simulation.applied_force import AppliedForce
from ros2_dyn.simulation.contact import Contact
from ros2_dyn.simulation.wall import Wall
from ros2_dyn_tools.campaign.arm_pool import nominal_arm, random_home, with_friction
from ros2_dyn_tools.campaign.driver import DriverQuality
from ros2_dyn_tools.campaign.driver_faults import without_efforts
from ros2_dyn_tools.campaign.simulated_node import NodeQuality
from ros2_dyn_tools.campaign.world import World
from ros2_dyn_tools.campaign.world_options import ChannelQuality, WorldOptions
from tiers import FULL

BEGIN = 0.3
"""When the mode is requested, s."""
SAMPLE_PERIOD = 0.004
"""How often the motion is measured, s."""
STIFF = 5e4
"""Stiffness of the wall where no other is given, N/m."""


class Loop(NamedTuple):
    """How late a loop is."""

    rate: float = 500.0
    """Rate of the states, Hz."""
    states: float = 0.0
    """Delay of the states, s."""
    commands: float = 0.0
    """Delay of the commands, s."""
    jitter: float = 0.0
    """Largest additional delay of both, s."""
    burst: float = 0.0
    """Duration over which a driver collects states before it sends them together, s."""
    clock: float = 0.0
    """How far the driver's clock is ahead of the node's, s."""
    drift: float = 0.0
    """How far it gets ahead in a second, s."""
    measures_efforts: bool = True
    """Whether the states have efforts."""


class Outcome(NamedTuple):
    """What the arm did."""

    refused: str
    """Why the mode was refused; empty: it began."""
    ended: str
    """Why it ended; empty: it lasted."""
    tip_speed: float
    """Largest speed of the tip until the mode ended, m/s."""
    last_speed: float
    """Largest speed of the tip in the last 0.5 s of a mode that lasted, m/s."""
    force: float
    """Largest force of the wall until the mode ended, N."""
    impact: float
    """Force by which the speed of the first impact explains more than the one asked, N."""
    last_force: float
    """Mean force in the last 0.5 s of a mode that lasted, N."""
    bounces: tuple[float, float] = (0.0, 0.0)
    """Difference between the largest and the smallest force of the wall in the two halves of the last second, N."""


@lru_cache(maxsize=8)
def light_arm(name: str, friction: float = 0.0) -> tuple[RobotModel, tuple[float, ...]]:
    """Return an arm of the pool with its rotors and a fraction of its friction, and where it begins.

    The test is skipped where the arm is not installed.
    """
    try:
        arm = with_friction(nominal_arm(name), friction)
    except InputError as error:
        pytest.skip(str(error))
    return arm, tuple(random_home(arm, np.random.default_rng(1)).tolist())


def play(
    arm: RobotModel,
    home: Sequence[float],
    mode: str,
    loop: Loop,
    force: float = 20.0,
    gap: float | None = 0.01,
    seconds: float = 3.0,
    push: float = 10.0,
    seed: int = 0,
    stiffness: float = STIFF,
    depth: float = 0.0,
    **settings: object,
) -> Outcome:
    """Enter a mode once and watch the arm.

    Args:
        arm: the arm, which the node knows.
        home: where it begins, rad or m, shape (n,).
        mode: force, or another.
        loop: how late the loop is.
        force: asked downwards, N.
        gap: from the tip to a stiff wall below it, m; None: there is none.
        seconds: duration of the mode.
        push: sideways force on the tip for 0.2 s, N, unless there is a wall.
        seed: of all chance.
        stiffness: of the wall, N/m.
        depth: of the desired pose below the tip's pose at the beginning, m.
        settings: parameters of the node.
    """
    pose = forward_kinematics(arm, home)
    tip = pose[:3, 3]
    contacts: list[Contact] = []
    if gap is not None:
        contacts.append(Wall(arm.default_tip, tip - [0, 0, gap], (0, 0, 1), stiffness=stiffness))
    elif push:
        contacts.append(AppliedForce(arm.default_tip, (push, push, 0.0), start=BEGIN + 1.0, duration=0.2))
    chosen = Settings.from_values({"robot.joints": arm.joint_names, **settings})  # type: ignore[arg-type]
    options = WorldOptions(
        chosen,
        DriverQuality(loop.rate),
        ChannelQuality(0.0, loop.states, loop.jitter),
        ChannelQuality(0.0, loop.commands, loop.jitter),
        node=NodeQuality(compile_time=0.0, failsafe_start=0.0),
        step=1e-3,
    )
    world = World(seed, arm, home, options, contacts=contacts)
    desired = [*(tip - [0, 0, depth]).tolist(), *quaternion_from_rotation(pose[:3, :3]).tolist()]
    wrench, target = WrenchSample(0, "", (0, 0, -force, 0, 0, 0)), PoseSample(0, "", desired)
    world.targets.faults.append(lambda messages: [messages[0], wrench, target])
    _spoil_states(world, loop)
    samples: list[tuple[float, float, float, float]] = []
    ended: list[str] = []

    def measure() -> None:
        if world.node.mode != mode:
            if samples and not ended:
                ended.append(world.node.runtime.reason)
            return
        if ended:
            return
        world.advance()
        J = jacobian(arm, world.arm.q)
        v = J[:3] @ world.arm.qd
        samples.append((world.now, float(np.linalg.norm(v)), -float(v[2]), float(world.arm.contact_wrench()[2])))

    world.queue.every(SAMPLE_PERIOD, measure)
    world.at(BEGIN, lambda: world.want_mode(mode))
    while world.now < BEGIN + seconds and not ended:
        world.run(world.now + 0.1)
        refused = [record[2] for record in world.records if record[1] == "refused"]
        if refused and not samples:
            return Outcome(refused[0], "", 0.0, 0.0, 0.0, 0.0, 0.0)
    assert samples, "the mode has neither begun nor been refused"
    t, speed, down, pressed = np.array(samples).T
    lasted, touched = not ended, np.flatnonzero(pressed > 0)
    approach = down[: touched[0] + 1] if touched.size else down
    last = t > BEGIN + seconds - 0.5
    J, M = jacobian(arm, home)[2], mass_matrix(arm, home)
    mass = 1 / float(J @ np.linalg.solve(M, J))
    return Outcome(
        "",
        "" if lasted else ended[0],
        float(speed.max()),
        float(speed[last].max()) if lasted else 0.0,
        float(pressed.max()),
        float(np.sqrt(stiffness * mass) * max(approach.max(), 0.0)) if gap is not None else 0.0,
        float(pressed[last].mean()) if lasted else 0.0,
        tuple(float(np.ptp(half)) for half in np.array_split(pressed[t > t[-1] - 1.0], 2)) if lasted else (0.0, 0.0),
    )


def _spoil_states(world: World, loop: Loop) -> None:
    """Let a driver measure no efforts, stamp by another clock, or send its states in bursts."""

    def drift() -> None:
        world.driver_clock_offset = round(1e9 * (loop.clock + loop.drift * world.now))

    drift()
    if loop.drift:
        world.queue.every(0.01, drift)
    if not loop.measures_efforts:
        world.driver.faults.append(without_efforts)
    if loop.burst:
        _collect(world, loop.burst)


def _collect(world: World, duration: float) -> None:
    """Let the driver send its states together, once a duration, s."""
    waiting: list[JointSample] = []
    due = 0.0

    def fault(samples: list[JointSample]) -> list[JointSample]:
        nonlocal due
        waiting.extend(samples)
        if world.now < due:
            return []
        due = world.now + duration
        sent = waiting.copy()
        waiting.clear()
        return sent

    world.driver.faults.append(fault)


def light(name: str) -> RobotModel:
    """Return an arm of the pool with rotors and without friction; skip the test where it is not installed."""
    return light_arm(name)[0]


def plain(pose: np.ndarray) -> PoseSample:
    """Return the message that desires a pose, shape (4, 4)."""
    return PoseSample(0, "", numbers(pose))


def numbers(pose: np.ndarray) -> list[float]:
    """Return a pose as in a message."""
    return [*pose[:3, 3].tolist(), *quaternion_from_rotation(pose[:3, :3]).tolist()]


class Held:
    """A light arm without friction in mode impedance, whose tip follows poses."""

    def __init__(
        self,
        name: str,
        home: Sequence[float],
        desired: Callable[[float], np.ndarray],
        rate: float = 500.0 if FULL else 250.0,
        message: Callable[[np.ndarray], PoseSample | HybridSample] | None = None,
        contacts: Sequence[Contact] = (),
        **settings: object,
    ) -> None:
        """Request the mode after 0.3 s.

        Args:
            name: of the arm.
            home: joint positions at which it begins, rad, shape (n,).
            desired: the desired pose, shape (4, 4), at a time, s.
            rate: of the states, Hz.
            message: makes the message that desires a pose; None: a plain one.
            contacts: what the arm touches.
            settings: parameters of the node.
        """
        self.arm = light(name)
        options = WorldOptions(
            Settings.from_values({"robot.joints": self.arm.joint_names, **settings}),  # type: ignore[arg-type]
            DriverQuality(rate),
            node=NodeQuality(compile_time=0.0, failsafe_start=0.0),
            step=1e-3,
        )
        self.world = World(0, self.arm, home, options, contacts=contacts)
        make = message or plain
        self.world.targets.faults.append(lambda messages: [messages[0], make(desired(self.world.now))])
        self.world.at(0.3, lambda: self.world.want_mode("impedance"))
        self.samples: list[tuple[float, ...]] = []
        """Time, s; distance of the tip from the desired pose, m; its speed, m/s; smallest singular value."""
        self.world.queue.every(0.005, lambda: self._measure(desired(self.world.now)))

    def _measure(self, desired: np.ndarray) -> None:
        if self.world.node.mode != "impedance":
            return
        self.world.advance()
        at, J = forward_kinematics(self.arm, self.world.arm.q), jacobian(self.arm, self.world.arm.q)
        speed = float(np.linalg.norm((J @ self.world.arm.qd)[:3]))
        error = float(np.linalg.norm(at[:3, 3] - desired[:3, 3]))
        self.samples.append((self.world.now, error, speed, float(np.linalg.svd(J)[1][-1])))

    @property
    def spring(self) -> Spring:
        """The spring of the mode."""
        return self.world.node.runtime.active_mode.spring
