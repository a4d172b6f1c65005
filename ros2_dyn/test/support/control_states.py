# SPDX-License-Identifier: Apache-2.0
"""Arms and states for the tests of the control laws, the modes and their conditions."""

from __future__ import annotations

from math import inf
from types import SimpleNamespace

import numpy as np
from scipy.integrate import solve_ivp

from robots import joint, link, random_link, robot
from ros2_dyn.control.arm import Arm
from ros2_dyn.control.arm_state import ArmState, arm_state
from ros2_dyn.control.command_settings import CommandSettings
from ros2_dyn.control.effort_limiter import CommandLimits
from ros2_dyn.control.position_limits import PositionLimits
from ros2_dyn.control.sampled_stability import SampledLoop
from ros2_dyn.dynamics import forward_dynamics
from ros2_dyn.model import JointDynamics, RobotModel
from ros2_dyn.simulation.simulated_arm import HeldEffort


def chain(seed: int, *types: str) -> RobotModel:
    """Return a robot without branches, with any axes, full inertia tensors and friction."""
    rng = np.random.default_rng(seed)
    elements = [link("link0")]
    for i, type in enumerate(types, start=1):
        offset, tilt, axis = rng.uniform(-0.5, 0.5, 3), rng.uniform(-np.pi, np.pi, 3), rng.normal(size=3)
        elements.append(random_link(rng, f"link{i}"))
        elements.append(joint(f"joint{i}", type, f"link{i - 1}", f"link{i}", offset, tilt, axis))
    model = RobotModel.from_urdf(robot(*elements))
    return model.with_joint_dynamics({joint.name: JointDynamics(*rng.uniform(0.1, 1, 2)) for joint in model.joints})


SEVEN = chain(7, "revolute", "revolute", "prismatic", "revolute", "revolute", "continuous", "revolute")
THREE = chain(3, "revolute", "prismatic", "revolute")


def moving(model: RobotModel, seed: int, **terms) -> ArmState:
    """Return the terms at a random state."""
    q, qd = np.random.default_rng(seed).uniform(-1.5, 1.5, (2, model.n))
    return arm_state(model, q, qd, **terms)


def made_up(M, q=0.0, qd=0.0, J=None, pose=None) -> ArmState:
    """Return a state of no robot in particular, without weight."""
    M = np.atleast_2d(np.asarray(M, dtype=float))
    n = len(M)
    q, qd = np.broadcast_to(q, n).astype(float), np.broadcast_to(qd, n).astype(float)
    J, pose = np.eye(6, n) if J is None else J, np.eye(4) if pose is None else pose
    return ArmState(q, qd, np.zeros(n), np.zeros(n), M, J, pose)


class Continuous(HeldEffort):
    """Motors that exert what a law of state and time returns, at every instant."""

    def __init__(self, law) -> None:
        self.law = law

    def __call__(self, t, q, qd, M, h):
        """Return the effort; see `EffortLaw`."""
        return self.law(t, q, qd)


def exact_motion(model: RobotModel, law, q, qd, times) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return positions and velocities at times, s, of an arm that exerts `law(t, q, qd)`, as SciPy integrates it."""

    def rate(t, state):
        q, qd = np.split(state, 2)
        return [*qd, *forward_dynamics(model, q, qd, law(t, q, qd))]

    given = {"t_eval": times, "method": "DOP853", "rtol": 1e-12, "atol": 1e-13}
    return [tuple(np.split(state, 2)) for state in solve_ivp(rate, (0.0, times[-1]), [*q, *qd], **given).y.T]


def arm_at(state: ArmState, now: float = 0.0, effort: float = 50.0, velocity: float = 100.0, **given) -> Arm:
    """Return an arm in a loop without delay, which lacks nothing that a mode needs.

    Args:
        state: the state.
        now: time, s.
        effort: largest efforts, N m or N.
        velocity: largest velocities, rad/s or m/s.
        given: fields of `Arm`.
    """
    n = len(state.q)
    names, wide = tuple(f"joint {i}" for i in range(n)), np.full(n, inf)
    joints = [SimpleNamespace(type="revolute", mimics=None)] * n
    model = SimpleNamespace(joints=joints, drives=SimpleNamespace(coupling=np.eye(n), efforts=lambda tau: tau))
    target = SimpleNamespace(desired_at=now, in_base_axes=lambda q: np.zeros(6))
    desired = SimpleNamespace(q=state.q.tolist(), qd=[0.0] * n, qdd=[0.0] * n)
    usual = {
        "age": 0.0,
        "robot": SimpleNamespace(link_pose=lambda link, q: np.eye(4), model=model),
        "commands": CommandSettings(),
        "limits": CommandLimits(names, np.full(n, effort), np.full(n, 10 * effort), np.full(n, velocity)),
        "positions": PositionLimits(names, -wide, wide, 0.1),
        "loop": SampledLoop(0.0, 0.0),
        "walls": (-wide, wide),
        "desired": desired,
        "desired_at": now,
        "wrench": target,
        "enable_age": 0.0,
    }
    return Arm(now=now, state=state, **(usual | given))
