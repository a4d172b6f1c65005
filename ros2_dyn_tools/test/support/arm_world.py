# SPDX-License-Identifier: Apache-2.0
"""A world of the mock arm with friction and rotors, what its arm did in it, and what any world recorded and kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from robots import mock_arm
from ros2_dyn.dynamics import forward_kinematics, jacobian
from ros2_dyn.model import Payload
from ros2_dyn.runtime import PayloadRequest, Settings
from ros2_dyn.simulation.perturbed import with_armature, with_friction
from ros2_dyn_tools.campaign.driver import DriverFault, DriverQuality
from ros2_dyn_tools.campaign.promise import Disturbances, broken_promises
from ros2_dyn_tools.campaign.promises import ALWAYS
from ros2_dyn_tools.campaign.record import Record, worst_motion
from ros2_dyn_tools.campaign.simulated_node import NodeQuality
from ros2_dyn_tools.campaign.target_generator import TargetQuality
from ros2_dyn_tools.campaign.world import World
from ros2_dyn_tools.campaign.world_options import WorldOptions

HOME = [0.0, -1.2, 1.4, -1.8, -1.57, 0.0]
ARM = with_armature(
    with_friction(mock_arm(), [5.0, 5.0, 4.0, 1.0, 1.0, 1.0], [12.0, 12.0, 9.0, 2.4, 2.4, 2.4]),
    [0.5, 0.5, 0.4, 0.1, 0.1, 0.1],
)
FRICTIONLESS = with_armature(mock_arm(), [0.5, 0.5, 0.4, 0.1, 0.1, 0.1])
SETTINGS = {
    "robot.joints": ARM.joint_names,
    "feed_forward.stiffness": [200.0] * 3 + [50.0] * 3,
    "feed_forward.damping": [40.0] * 3 + [5.0] * 3,
    "friction.transition_velocity": 0.05,
    "commands.ramp_time": 0.2,
    "collision.bandwidth": 0.0,
}


class ArmWorld(World):
    """A world, with settings as keywords, and its arm's motion as arrays."""

    def __init__(
        self,
        seed=1,
        *,
        arm=ARM,
        home=HOME,
        contacts=(),
        rate=125.0,
        targets=None,
        node=None,
        known=None,
        **settings,
    ) -> None:
        chosen, node = Settings.from_values(SETTINGS | settings), node or NodeQuality()
        options = WorldOptions(chosen, DriverQuality(rate), targets=targets or TargetQuality(), node=node)
        super().__init__(seed, arm, home, options, known, contacts=contacts)

    def record(self, kind: str, *details: Any) -> None:
        """Write an event down; what follows a stop is the stop alone."""
        super().record(kind, *details)
        if (kind, *details[:1]) == ("mode", "stopped"):
            self.wanted_mode = "stopped"

    def play(self, mode: str, until: float) -> None:
        """Want a mode from now on, and let the world go on until a time, s."""
        self.want_mode(mode)
        self.run(until)

    def set(self, **changes) -> None:
        """Change parameters; a refusal is recorded."""
        self.tell_settings(**changes)

    def details(self, kind: str) -> list[tuple]:
        """Return the details of the records of a kind."""
        return [record[2:] for record in self.records if record[1] == kind]

    def modes(self) -> list[str]:
        """Return the modes, in order."""
        return [details[0] for details in self.details("mode")]

    def reasons(self) -> list[str]:
        """Return the reasons of all stops."""
        return [reason for mode, reason in self.details("mode") if mode == "stopped"]

    def positions(self, since: float = 0.0) -> np.ndarray:
        """Return the joint positions every 10 ms since a time, s, shape (m, n)."""
        motion = self.finish().motion
        return motion.q[motion.t >= since]

    def travel(self, since: float = 0.0) -> float:
        """Return the largest distance of a joint from where it was at a time, s; rad."""
        q = self.positions(since)
        return float(np.max(np.abs(q - q[0])))

    def joint_speed(self, since: float = 0.0) -> float:
        """Return the largest speed of a joint since a time, s; rad/s."""
        return float(np.max(np.abs(np.diff(self.positions(since), axis=0)))) / 0.01

    def tip_speed(self, since: float = 0.0) -> float:
        """Return the largest speed of the tip since a time, s; m/s."""
        q = self.positions(since)
        tips = np.array([forward_kinematics(self.arm_model, each)[:3, 3] for each in q])
        return float(np.max(np.linalg.norm(np.diff(tips, axis=0), axis=1))) / 0.01

    def tip_velocity(self) -> np.ndarray:
        """Return the velocity of the tip now, m/s, shape (3,)."""
        return (jacobian(self.arm_model, self.arm.q) @ self.arm.qd)[:3]


def commanding(mode: str = "gravity", until: float = 1.0, **settings) -> ArmWorld:
    """Return a world in a mode, whose operator does nothing from a time on, s."""
    played = ArmWorld(**settings)
    played.want_mode(mode)
    played.run(until)
    assert played.node.mode == mode, played.node.runtime.reason
    leave_alone(played)
    return played


def leave_alone(world: World) -> None:
    """Let nobody request a mode, release a failsafe process or put the arm home from now on."""
    world.node.request_mode = lambda mode: None
    world.node.release = world.place_home = lambda: None


def told(payload: Payload, ramp_time: float = 0.0) -> PayloadRequest:
    """Return the request that tells the node of a payload, with a ramp, s."""
    return PayloadRequest(payload.link or "", tuple(payload.parameters.tolist()), ramp_time)


def coarse_encoders(rest: np.ndarray, step: float) -> DriverFault:
    """Return a fault that tells positions in steps, rad or m; of an arm at rest, (n,), one of two is told by chance."""
    middle, chances = rest - step / 2, np.random.default_rng(1)

    def told_q(q: Sequence[float]) -> list[float]:
        steps = (np.array(q) - middle) / step + 0.2 * chances.standard_normal(len(q))
        return (middle + step * np.round(steps)).tolist()

    return lambda samples: [each._replace(position=told_q(each.position)) for each in samples]


def of_kind(world: World, *start: str) -> list[tuple]:
    """Return the records that begin with some words: time in s, details."""
    n = len(start)
    return [(1e-9 * record[0], *record[1 + n :]) for record in world.records if record[1 : 1 + n] == start]


def broken(world: World) -> list[str]:
    """Return the names of the promises that were broken by now."""
    return [each.promise for each in broken_promises(ALWAYS, world.finish(), Disturbances())]


def worst(world: World, name: str) -> float:
    """Return the largest of one of `MOTIONS` by now."""
    return worst_motion(world.finish())[name]


def timeline(record: Record) -> bytes:
    """Return a record as text; equal seeds give equal bytes."""
    tables = [column.tolist() for table in (record.motion, record.commands) for column in vars(table).values()]
    return repr((record.events, tables)).encode()


def commanded_seconds(world: World) -> float:
    """Return how long the node commanded, s."""
    return 0.01 * int(np.sum(world.finish().motion.commander == "node"))
