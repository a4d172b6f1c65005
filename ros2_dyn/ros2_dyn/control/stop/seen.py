# SPDX-License-Identifier: Apache-2.0
"""What the supervisor and a stop know at a state."""

from __future__ import annotations

from typing import NamedTuple

from ros2_dyn.control.arm_state import ArmState
from ros2_dyn.model.spatial import Array


class SeenState(NamedTuple):
    """What the supervisor sees of a state."""

    now: float
    """Time, s."""
    age: float
    """Age of the state by its stamp, s."""
    q: Array
    """Joint positions, rad or m, shape (n,)."""
    qd: Array
    """Joint velocities, rad/s or m/s, shape (n,)."""
    problem: str = ""
    """Why no command may be based on the state; empty where it fits the states before."""
    inert: bool = False
    """Whether the joints are measured to exert nothing, although efforts are commanded."""

    @property
    def at(self) -> float:
        """When it was measured, s."""
        return self.now - max(self.age, 0.0)


class BrakeInput(NamedTuple):
    """What brakes and holds the arm at a state."""

    state: ArmState
    """State of the arm."""
    rate: float
    """Rate of the damping, 1/s."""
    gravity: Array
    """Effort that carries the arm by its model, as it would be commanded, N m or N, shape (n,)."""
    damped: Array
    """The same with damping, N m or N, shape (n,)."""
    walls: Array
    """Efforts of soft walls, N m or N, shape (n,): where they push, no spring holds the joint against them."""
    obeyed: Array
    """Which joints are measured not to exert the opposite of what is commanded, shape (n,), bool."""
    softened: Array | float = 0.0
    """What walls have just lost because the loop became later, N m or N, shape (n,)."""
    unloaded: Array | float = 0.0
    """What gravity compensation has just lost because another payload is declared, N m or N, shape (n,)."""
    pushed: bool = False
    """Whether something outside drives the arm, as far as can be seen: a hand, or an error of the model."""
    misplaced: Array | bool = False
    """Which positions are in doubt, shape (n,), bool: the arm is carried by what carried it until then."""
    doubtful: bool = False
    """Whether velocities are not those of the positions: the arm is damped, and nothing is held that may be a lie."""
    unanswered: Array | bool = False
    """Which joints do not answer to commands, shape (n,), bool: others move them, and nothing is learned from that."""
    exerted: Array | None = None
    """What they exert, as it would be commanded, N m or N, shape (n,); None: it is not measured."""
