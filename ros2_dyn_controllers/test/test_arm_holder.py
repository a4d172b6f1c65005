# SPDX-License-Identifier: Apache-2.0
"""The compiled ArmHolder on simulated arms: what moves, how far and how fast, when references come, jump and end.

Premise, where nothing else is said: the masses are up to 20 % wrong, the rotors are known, and friction is 0 to 3 % of
the effort limits.
"""

import ctypes
from dataclasses import replace
from math import inf

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from compiled import build, compiler
from held_arm import ARM, ARMS, HeldArm, Holder, HolderSettings, wrong
from robots import joint, link, robot
from ros2_dyn.dynamics import gravity
from ros2_dyn.kernels.make_tape import make_tape
from ros2_dyn.model import JointDynamics, Payload, RobotModel

pytestmark = pytest.mark.skipif(not compiler(), reason="no C++ compiler is here")


each_arm = pytest.mark.parametrize("model", ARMS.values(), ids=ARMS)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    path = build("holder_library.cpp", tmp_path_factory.mktemp("holder") / "holder.so", "-O2", "-fPIC", "-shared")
    return ctypes.CDLL(str(path))


def somewhere(model, seed):
    """Return positions within the limits."""
    lower, upper = np.maximum(model.lower, -2.0), np.minimum(model.upper, 2.0)
    return lower + (upper - lower) * np.random.default_rng(seed).uniform(0.2, 0.8, model.n)


def of_limits(model, share, seed):
    """Return velocities up to a share of their limits."""
    return share * np.random.default_rng(seed).uniform(-1, 1, model.n) * model.velocity_limit


@each_arm
@pytest.mark.parametrize(("masses", "friction", "seed"), [(1.2, 0.0, 1), (0.8, 0.0, 2), (1.2, 0.03, 3)])
def test_arm_without_reference_comes_to_rest_and_stays(library, model, masses, friction, seed):
    q = somewhere(model, seed)
    held = HeldArm(
        Holder(library, make_tape(model).to_bytes()), wrong(model, masses, friction), q, of_limits(model, 0.3, seed)
    )
    positions, velocities = held.run(2.0)
    assert held.state == "holds"
    assert np.abs(velocities[500:]).max() < 0.05  # a second later
    assert np.abs(positions - q).max() < 0.3


@each_arm
@pytest.mark.parametrize("hold", [True, False])
@pytest.mark.parametrize(("position", "velocity"), [(0.0, 3.0), (0.0, 100.0), (0.0, 1e12), (0.3, 0.0)])
def test_one_wrong_position_or_velocity_moves_no_arm(library, model, hold, position, velocity):
    """Its velocity was that of the motion on which the arm was to come to rest, at the limits of the joints."""
    settings, wrong = HolderSettings(hold=hold), np.ones(model.n)
    held = HeldArm(Holder(library, make_tape(model).to_bytes(), settings), model, somewhere(model, 1))
    held.run(0.5)

    def measured(t, q, qd):
        return (q + position * wrong, velocity * wrong) if round(500 * t) == 300 else (q, qd)

    positions, velocities = held.run(1.0, measured=measured)
    assert np.abs(velocities).max() < 1.0  # by the efforts of one tick
    assert np.ptp(positions, axis=0).max() < 0.1
    assert np.abs(velocities[-1]).max() < 0.05


def swing(q0, t):
    """Return a motion that begins at rest."""
    x, v, a = 0.3 * (1 - np.cos(2 * t)), 0.6 * np.sin(2 * t), 1.2 * np.cos(2 * t)
    return q0 + x, np.full_like(q0, v), np.full_like(q0, a)


@each_arm
def test_motion_is_followed(library, model):
    """The reference is that of the tick's beginning: the sampled control is late by half a period."""
    q0 = (np.maximum(model.lower, -2.0) + np.minimum(model.upper, 2.0)) / 2
    held = HeldArm(Holder(library, make_tape(model).to_bytes()), model, q0, rate=1000.0)
    positions, _ = held.run(1.5, lambda t, q, qd: {"motion": swing(q0, t)})
    expected = np.array([swing(q0, 0.001 * (k + 1))[0] for k in range(len(positions))])
    assert held.state == "follows"
    assert np.abs(positions - expected).max() < 1e-3


@each_arm
def test_efforts_of_half_the_limits_for_ever_do_not_make_the_arm_run_away(library, model):
    held = HeldArm(Holder(library, make_tape(model).to_bytes()), wrong(model, 1.0, 0.01), somewhere(model, 6))
    _, velocities = held.run(2.0, lambda t, q, qd: {"effort": 0.5 * model.effort_limit})
    assert held.state == "stopped"
    assert (np.abs(velocities) / model.velocity_limit).max() < 1.5
    assert np.abs(velocities[-250:]).max() < 0.05


@each_arm
def test_jump_of_a_motion_to_the_far_end_does_not_make_the_arm_run_away(library, model):
    q = somewhere(model, 6)
    far = np.clip(np.where(q > 0, model.lower, model.upper), -2.5, 2.5)
    held = HeldArm(Holder(library, make_tape(model).to_bytes()), wrong(model, 1.0, 0.01), q)
    _, velocities = held.run(2.0, lambda t, q, qd: {"motion": (far, 0.0 * q, 0.0 * q)})
    assert (np.abs(velocities) / model.velocity_limit).max() < 1.6


@each_arm
def test_arm_that_begins_beyond_its_range_is_held_there(library, model):
    """It was pulled back with up to 1.7 times its velocity limit."""
    q = somewhere(model, 1)
    q[1] = model.upper[1] + 1.0
    positions, _ = HeldArm(Holder(library, make_tape(model).to_bytes()), model, q).run(1.0)
    assert np.abs(positions - q).max() < 1e-6


@each_arm
def test_motion_to_the_end_of_a_range_and_back_is_followed(library, model):
    """Sagging a little beyond it, the arm stood still for as long as references came."""
    q0 = somewhere(model, 1)
    depth = np.where(np.arange(model.n) == 1, 0.3, 0.0)
    q0[1] = model.upper[1] - 0.6

    def motion(t, q, qd):
        x, v, a = swing(0.0, t)  # up to 0.6 rad
        return {"motion": (q0 + x * depth / 0.3, v * depth / 0.3, a * depth / 0.3)}

    held = HeldArm(Holder(library, make_tape(model).to_bytes()), wrong(model, 1.2, 0.01), q0)
    positions, _ = held.run(np.pi, motion)
    assert held.state == "follows"
    assert positions[:, 1].max() > model.upper[1]
    assert np.abs(positions[-1] - q0).max() < 0.1


def test_stopped_arm_follows_again_after_a_pause_of_the_reference(library):
    model = ARM
    held = HeldArm(Holder(library, make_tape(model).to_bytes()), model, somewhere(model, 1), 1.3 * model.velocity_limit)
    nothing = {"effort": np.zeros(model.n)}
    held.run(1.0, lambda t, q, qd: nothing)
    assert held.state == "stopped"
    held.run(0.01)
    assert held.state == "holds"
    held.run(0.01, lambda t, q, qd: nothing)
    assert held.state == "follows"


@each_arm
def test_efforts_keep_their_limits_and_change_gradually(library, model):
    holder, rng = Holder(library, make_tape(model).to_bytes()), np.random.default_rng(7)
    q, before = somewhere(model, 7), None
    for _ in range(200):
        _, effort = holder.update(0.002, q, 0.0 * q, effort=model.effort_limit * rng.uniform(-3, 3, model.n))
        assert (np.abs(effort) <= model.effort_limit).all()
        if before is not None:
            assert (np.abs(effort - before) <= model.effort_limit * 0.002 / 0.1 + 1e-9).all()
        before = effort


def test_arm_that_is_not_to_be_held_floats(library):
    """Its weight is carried. Its speed dies out, and a push moves it; nothing pulls it back."""
    model = ARM
    q, settings = somewhere(model, 8), HolderSettings(hold=False)
    held = HeldArm(Holder(library, make_tape(model).to_bytes(), settings), model, q, of_limits(model, 0.2, 8))
    positions, velocities = held.run(3.0)
    assert held.state == "holds"
    assert np.abs(positions[-1] - q).max() > 0.1
    assert np.abs(velocities[-1]).max() < 0.01


@pytest.mark.parametrize("number", [np.nan, 1e308])
@pytest.mark.parametrize("wrong_state", ["q", "qd"])
def test_states_that_are_no_numbers(library, wrong_state, number):
    """The last efforts stay for a tenth of a second; then the holder says that it sees nothing."""
    model = ARM
    holder, q = Holder(library, make_tape(model).to_bytes()), somewhere(model, 9)
    _, before = holder.update(0.01, q, 0.0 * q)
    state = {"q": q, "qd": 0.0 * q} | {wrong_state: np.full(model.n, number)}
    found = [holder.update(dt, **state) for dt in [0.0] + [0.01] * 12]
    assert [each[0] for each in found] == ["holds"] * 11 + ["blind"] * 2
    for _, effort in found:
        assert_allclose(effort, before)


@pytest.mark.parametrize(
    "given",
    [
        {"effort": [np.nan] * 6},
        {"effort": [1e308] * 6},
        {"motion": [[inf] * 6] * 3},
        {"motion": [[1e308] * 6] * 3},
        {"effort": [0.0] * 6, "age": np.nan},
    ],
)
def test_references_that_are_no_numbers_are_none(library, given):
    """Joints that turn without end clip no position that is asked for."""
    tape = make_tape(ARM)
    limits = tape.limits.copy()
    limits[:, :2] = -inf, inf
    holder = Holder(library, replace(tape, limits=limits).to_bytes())
    for _ in range(2):
        state, effort = holder.update(0.01, ARM.neutral, 0.0 * ARM.neutral, **given)
        assert state == "holds"
        assert_allclose(effort, gravity(ARM, ARM.neutral), atol=1e-9)


@pytest.mark.parametrize("nothing", [np.nan, 1e308])
@pytest.mark.parametrize("missing", [1, 2])
def test_velocities_and_accelerations_that_nobody_gives_are_none(library, missing, nothing):
    """A controller before may know positions and velocities alone, as admittance_controller does."""
    q, rng = somewhere(ARM, 11), np.random.default_rng(12)
    motion = [q + 0.01, *rng.uniform(-0.1, 0.1, (2, ARM.n))]
    with_zeros, without = [list(motion), list(motion)]
    with_zeros[missing], without[missing] = np.zeros(ARM.n), np.full(ARM.n, nothing)
    found = [Holder(library, make_tape(ARM).to_bytes()).update(0.01, q, 0 * q, motion=m) for m in (with_zeros, without)]
    assert [each[0] for each in found] == ["follows"] * 2
    assert_array_equal(found[0][1], found[1][1])
    positions_lack = [np.full(ARM.n, np.nan), *motion[1:]]
    assert Holder(library, make_tape(ARM).to_bytes()).update(0.01, q, 0 * q, motion=positions_lack)[0] == "holds"


def test_payload_is_carried_once_it_is_declared(library):
    """An arm that does not know what it carries sags; one that knows it stays where it is."""
    model, I = ARM, (0.02, 0.001, -0.002, 0.03, 0.003, 0.025)
    full = np.array([[I[0], I[1], I[2]], [I[1], I[3], I[4]], [I[2], I[4], I[5]]])
    payload = Payload(3.0, (0.02, -0.05, 0.1), full)
    q, numbers = somewhere(model, 10), [3.0, 0.02, -0.05, 0.1, *I]
    efforts = []
    for declared in (True, False):
        holder = Holder(library, make_tape(model).to_bytes())
        held = HeldArm(holder, model, q)
        held.run(0.1)
        assert not declared or holder.set_payload(numbers)
        held.arm.replace_model(model.carrying(payload))
        held.run(3.0)
        efforts.append(held.effort)
        travel = np.abs(held.arm.q - q).max()
        assert bool(travel < 1e-6) is declared
    assert_allclose(efforts[0], gravity(model.carrying(payload), q), atol=1e-6)


@pytest.mark.parametrize(
    "numbers",
    [
        [np.nan] * 10,
        [-1.0] + [0.0] * 9,
        [0.5, 0.0, 0.0, 0.0, -0.2, 0.0, 0.0, -0.2, 0.0, -0.2],  # it sent arms away at 90 times their velocity limits
        [0.0, 0.0, 0.0, 0.0, 100.0, 0.0, 0.0, 100.0, 0.0, 100.0],
        [1.0, 0.0, 0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 0.0, 0.0],
        [2.0, 0.0, 0.0, 0.0, 1200.0, 0.0, 0.0, 1200.0, 0.0, 1200.0],  # of other units
    ],
)
def test_payload_that_is_none_changes_nothing(library, numbers):
    assert not Holder(library, make_tape(ARM).to_bytes()).set_payload(numbers)


@pytest.mark.parametrize(
    ("outputs", "inputs"), [(("gravity",), ("q", "qd", "qdd", "payload")), (("effort", "gravity"), ("q",))]
)
def test_tape_that_lacks_something_is_refused(library, outputs, inputs):
    with pytest.raises(ValueError, match=r"the tape lacks the (in|out)put"):
        Holder(library, make_tape(ARM, outputs, inputs).to_bytes())


@pytest.mark.parametrize("limit", [(1.0, -1.0, 1.0, 1.0), (-1.0, 1.0, 0.0, 1.0), (-1.0, 1.0, 1.0, np.nan)])
def test_tape_whose_limits_are_none_is_refused(library, limit):
    tape = make_tape(ARM)
    limits = tape.limits.copy()
    limits[2] = limit
    with pytest.raises(ValueError, match="joint 'elbow_joint' has no range, velocity or effort"):
        Holder(library, replace(tape, limits=limits).to_bytes())


def test_nothing_is_allocated_in_an_update(library):
    model = ARM
    holder, q = Holder(library, make_tape(model).to_bytes()), somewhere(model, 1)
    before = library.allocations()
    for given in ({}, {"effort": q}, {"motion": (q, q, q)}, {"effort": q, "age": 1.0}):
        holder.update(0.01, q, q, **given)
    assert library.allocations() == before


def test_joint_that_moves_nothing_and_lacks_effort_gets_its_limit(library):
    """Its friction alone exceeds it: no acceleration changes that."""
    inertia = (0.1, 0, 0, 0.1, 0, 0.1)
    links = link("a", 1.0, inertia=inertia), link("b", 1.0, inertia=inertia), link("c")
    joints = joint("shoulder", "revolute", "a", "b"), joint("bare", "revolute", "b", "c")
    model = RobotModel.from_urdf(robot(*links, *joints))
    model = model.with_joint_dynamics({"bare": JointDynamics(coulomb=200.0)})
    holder = Holder(library, make_tape(model).to_bytes())
    motion = np.zeros(2), np.array([0.0, 1.0]), np.zeros(2)
    for _ in range(100):
        _, effort = holder.update(0.01, np.zeros(2), np.zeros(2), motion=motion)
        assert np.isfinite(effort).all()
    assert effort[1] == 100.0
