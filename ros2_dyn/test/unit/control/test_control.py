"""The control laws against closed forms, identities, and second implementations of what they say."""

from __future__ import annotations

from math import asin, atan2, inf

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from ros2_dyn.control.sampled_stability import MAX_RATE_TIMES_PERIOD, limit_rate_to_sampling
from scipy.linalg import expm

from real_arms import REAL_ARMS
from robots import example_robots, joint, link, mock_arm, random_link, robot
from ros2_dyn.control.arm_state import ArmState, arm_state
from ros2_dyn.control.feed_forward import joint_pd
from ros2_dyn.control.force_control import force_control, rate_limited_wrench, tip_motion
from ros2_dyn.control.gravity_compensation import gravity_compensation
from ros2_dyn.control.hand_guiding import HandGuidingParameters, assistance, hand_guiding
from ros2_dyn.control.soft_limits import soft_limits
from ros2_dyn.control.tip_friction import Anchor, TipFriction, tip_friction
from ros2_dyn.dynamics import (
    forward_kinematics,
    friction,
    gravity,
    jacobian,
    kinetic_energy,
    mass_matrix,
    momentum,
    static_torque,
)
from ros2_dyn.kernels import compile_kernel
from ros2_dyn.model import JointDynamics, Payload, RobotModel
from ros2_dyn.simulation.applied_force import AppliedForce
from ros2_dyn.simulation.simulated_arm import HeldEffort, SimulatedArm

HOME = [0.0, -1.2, 1.4, -1.8, -1.57, 0.0]
MASS = 4.0
CART = RobotModel.from_urdf(
    robot(link("base"), link("cart", MASS), joint("x", "prismatic", "base", "cart", axis=(1, 0, 0)))
)


def chain(seed: int, *types: str) -> RobotModel:
    """A robot without branches, with any axes, full inertia tensors and friction."""
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


@pytest.fixture(scope="module")
def six_axes() -> RobotModel:
    """The arm of this package, which has no friction."""
    return mock_arm()


@pytest.fixture(scope="module", params=["chain", "panda"])
def redundant(request) -> RobotModel:
    """Arms of seven joints."""
    if request.param == "chain":
        return SEVEN
    urdf, joints, _ = REAL_ARMS["panda"]
    if not (example_robots() / urdf).is_file():
        pytest.skip("example-robot-data is not installed")
    return RobotModel.from_urdf_file(example_robots() / urdf).reduced(joints)


def moving(model: RobotModel, seed: int, **terms) -> ArmState:
    """The terms at a random state."""
    q, qd = np.random.default_rng(seed).uniform(-1.5, 1.5, (2, model.n))
    return arm_state(model, q, qd, **terms)


def made_up(M, q=0.0, qd=0.0, J=None, pose=None) -> ArmState:
    """A state of no robot in particular, without weight."""
    M = np.atleast_2d(np.asarray(M, dtype=float))
    n = len(M)
    q, qd = np.broadcast_to(q, n).astype(float), np.broadcast_to(qd, n).astype(float)
    J, pose = np.eye(6, n) if J is None else J, np.eye(4) if pose is None else pose
    return ArmState(q, qd, np.zeros(n), np.zeros(n), M, J, pose)


class Continuous(HeldEffort):
    """Motors that do what a law of state and time says, at every instant."""

    def __init__(self, law) -> None:
        self.law = law

    def __call__(self, t, q, qd, M, h):
        """See `EffortLaw`."""
        return self.law(t, q, qd)


# --- the arm's state --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [SEVEN, THREE], ids=["seven", "three"])
def test_the_state_holds_the_terms_of_the_model(model):
    """Each as its own function says; the payload weighs and is inert, and neither rubs nor moves the tip."""
    payload, a_g, tip = Payload(0.7, (0.1, -0.2, 0.05)), (1.0, -2.0, 3.0), "link2"
    for state, loaded, where, fall in (
        (moving(model, 1), model, None, None),
        (moving(model, 1, tip=tip, a_g=a_g, payload=payload), model.carrying(payload), tip, a_g),
    ):
        q, qd = state.q, state.qd
        assert_array_equal(state.gravity, gravity(loaded, q, fall))
        assert_array_equal(state.friction, friction(model, qd))
        assert_array_equal(state.M, mass_matrix(loaded, q))
        assert_array_equal(state.J, jacobian(model, q, where))
        assert_array_equal(state.pose, forward_kinematics(model, q, where))
        assert_allclose(state.momentum, momentum(loaded, q, qd), rtol=0, atol=1e-11)
        assert_allclose(state.momentum @ qd / 2, kinetic_energy(loaded, q, qd), rtol=1e-12)
        step = 1e-6
        ahead, behind = (forward_kinematics(model, q + s * qd, where) for s in (step, -step))
        rate = (ahead - behind) / (2 * step)
        spin = rate[:3, :3] @ state.pose[:3, :3].T
        turning = [spin[2, 1], spin[0, 2], spin[1, 0]]
        assert_allclose(state.tip_velocity, [*rate[:3, 3], *turning], rtol=0, atol=1e-8)


# --- gravity compensation ---------------------------------------------------------------------------------------


def test_a_joint_without_weight_comes_to_rest_exponentially():
    """``p = p0 exp(-damping t)``, whatever the joint's inertia; up to the integrator's fourth order."""
    damping = 3.0
    for body in (link("body", 2.0, (0.1, 0.2, 0.3), (0.2, 0.01, 0.02, 0.3, 0.03, 0.4)), link("body", 50.0)):
        model = RobotModel.from_urdf(robot(link("base"), body, joint("z", "prismatic", "base", "body")))
        law = Continuous(lambda t, q, qd, m=model: gravity_compensation(arm_state(m, q, qd), damping))
        arm = SimulatedArm(model, law, [0.3], [1.7])
        arm.advance(200)
        assert_allclose(arm.qd, 1.7 * np.exp(-damping * arm.t), rtol=1e-11)
        assert_allclose(arm.q, 0.3 + 1.7 * (1 - np.exp(-damping * arm.t)) / damping, rtol=1e-11)


def test_the_energy_of_a_damped_arm_decays_exponentially(six_axes):
    """The power of the damping is ``-damping qd M qd``, so that ``T = T0 exp(-2 damping t)``.

    It is so wherever the arm goes and whatever Coriolis effects do.
    """
    damping, qd = 2.0, np.array([1.0, -0.8, 1.2, 2.0, -1.5, 3.0])
    terms = compile_kernel(six_axes, ("gravity", "friction", "mass_matrix", "jacobian", "pose"), "python", ("q", "qd"))

    def law(t, q, qd):
        return gravity_compensation(ArmState(q, qd, *map(np.array, terms(q.tolist(), qd.tolist()))), damping)

    arm = SimulatedArm(six_axes, Continuous(law), HOME, qd)
    before = kinetic_energy(six_axes, HOME, qd)
    for _ in range(3):
        arm.advance(100)
        assert_allclose(kinetic_energy(six_axes, arm.q, arm.qd), before * np.exp(-2 * damping * arm.t), rtol=1e-8)
    assert np.linalg.norm(arm.q - HOME) > 0.5  # it does go somewhere


# --- tracking ---------------------------------------------------------------------------------------------------


def test_errors_of_computed_torque_follow_their_closed_form(six_axes):
    """``e'' + d e' + k e = 0`` of each joint by itself, with the right model; one overdamped, others swing."""
    k, d = np.array([100.0, 64.0, 81.0, 49.0, 144.0, 100.0]), np.array([6.0, 16.0, 40.0, 2.0, 24.0, 0.5])
    effort = compile_kernel(six_axes, ("effort",), "python", ("q", "qd", "qdd"))
    rng = np.random.default_rng(0)
    e0, rate0, A = rng.uniform(-0.2, 0.2, (3, 6))

    def desired(t):
        return HOME + A * (1 - np.cos(5 * t)), 5 * A * np.sin(5 * t), 25 * A * np.cos(5 * t)

    def law(t, q, qd):
        q_d, qd_d, qdd_d = desired(t)
        qdd = qdd_d + joint_pd(q, qd, q_d, qd_d, k, d)
        return np.array(effort(q.tolist(), qd.tolist(), qdd.tolist())[0])

    q_d, qd_d, _ = desired(0)
    arm = SimulatedArm(six_axes, Continuous(law), q_d - e0, qd_d - rate0)
    for _ in range(3):
        arm.advance(100)
        q_d, qd_d, _ = desired(arm.t)
        errors = [expm(arm.t * np.array([[0, 1], [-k[i], -d[i]]])) @ (e0[i], rate0[i]) for i in range(6)]
        assert_allclose(np.transpose([q_d - arm.q, qd_d - arm.qd]), errors, rtol=0, atol=1e-8)


def test_the_joint_pd_is_a_spring_against_a_load():
    """At rest its stiffness times the error balances a constant force; one number is for all joints."""
    stiffness, load = 200.0, -7.0
    law = Continuous(lambda t, q, qd: joint_pd(q, qd, [0.3], [0.0], stiffness, 2 * np.sqrt(stiffness * MASS)))
    cart = SimulatedArm(CART, law, [0.3], step=5e-3, contacts=[AppliedForce("cart", (load, 0, 0))])
    cart.advance(1000)
    assert_allclose(0.3 - cart.q, -load / stiffness, rtol=1e-10)
    assert_allclose(joint_pd([1, 2], [3, 4], [1.5, 2.5], [3, 5], 10.0, [2.0, 3.0]), [5.0, 5.0 + 3.0])


# --- force ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [THREE, SEVEN], ids=["three", "seven"])
@pytest.mark.parametrize("seed", range(3))
def test_force_at_rest_is_statics(model, seed):
    """Weight, and the efforts of any wrench; for any damping."""
    q, wrench = np.random.default_rng(seed).uniform(-1, 1, model.n), np.random.default_rng(seed).normal(size=6) * 10
    for tip in (None, "link2"):
        state = arm_state(model, q, np.zeros(model.n), tip)
        expected = gravity(model, q) + static_torque(model, q, wrench, tip)
        assert_allclose(force_control(state, wrench, 100.0, 10.0), expected, rtol=0, atol=1e-11)


@pytest.mark.parametrize("seed", range(4))
def test_the_motion_of_the_tip_is_told_from_the_posture(redundant, seed):
    """As by Khatib's inverse; the same tip, orthogonal in M, the least kinetic energy of all that move the tip so."""
    state = moving(redundant, seed)
    M, J, qd = state.M, state.J, state.qd
    qd_tip = tip_motion(state)
    qd_null = qd - qd_tip
    dynamically_consistent = np.linalg.solve(M, J.T) @ np.linalg.inv(J @ np.linalg.solve(M, J.T))
    assert_allclose(qd_tip, dynamically_consistent @ (J @ qd), rtol=0, atol=1e-9)
    assert_allclose(J @ qd_tip, J @ qd, rtol=0, atol=1e-10)
    assert abs(qd_tip @ M @ qd_null) < 1e-10
    assert np.linalg.norm(qd_null) > 1e-3

    free = np.linalg.svd(J)[2][6:]
    for other in (qd, *(qd_tip + x @ free for x in np.random.default_rng(seed).normal(size=(10, 1)))):
        assert_allclose(J @ other, J @ qd, rtol=0, atol=1e-10)
        assert other @ M @ other > qd_tip @ M @ qd_tip


@pytest.mark.parametrize("seed", range(4))
def test_the_posture_is_damped_without_the_tip(redundant, seed):
    """Its damping does not accelerate the tip, and the tip's damping slows it at its rate."""
    state = moving(redundant, seed)
    undamped = force_control(state, np.zeros(6))
    assert_allclose(undamped, state.gravity, rtol=0, atol=1e-12)
    posture = np.linalg.solve(state.M, force_control(state, np.zeros(6), 0.0, 10.0) - undamped)
    assert_allclose(state.J @ posture, 0, atol=1e-9)
    assert posture @ state.M @ state.qd < 0
    tip = np.linalg.solve(state.M, force_control(state, np.zeros(6), 10.0, 0.0) - undamped)
    assert_allclose(state.J @ tip, -10 * state.tip_velocity, rtol=0, atol=1e-9)
    both = np.linalg.solve(state.M, force_control(state, np.zeros(6), 10.0, 10.0) - undamped)
    assert_allclose(both, -10 * state.qd, rtol=0, atol=1e-9)  # all of the momentum, as in gravity compensation


@pytest.mark.parametrize("seed", range(3))
def test_with_few_joints_all_that_moves_is_the_tip(seed):
    """Fewer than six joints that each move the tip leave no posture."""
    state = moving(THREE, seed)
    assert_allclose(tip_motion(state), state.qd, rtol=0, atol=1e-11)
    damped = force_control(state, np.zeros(6), 7.0, 1e3)
    assert_allclose(damped, gravity_compensation(state, 7.0), rtol=0, atol=1e-8)


def test_what_cannot_move_the_tip_is_posture():
    """A joint whose axis goes through the tip's origin still turns it; one beyond the tip does nothing at all."""
    state = moving(SEVEN, 0, tip="link3")
    qd_tip = tip_motion(state)
    assert_allclose(state.J @ qd_tip, state.tip_velocity, rtol=0, atol=1e-11)
    coupled = np.linalg.solve(state.M[3:, 3:], state.M[3:, :3] @ qd_tip[:3])  # joints 4 to 7 are let go of
    assert_allclose(qd_tip, [*state.qd[:3], *-coupled], rtol=0, atol=1e-10)


def test_in_free_space_a_force_moves_the_tip_at_a_terminal_velocity():
    """``v = F / (damping m)``, which it comes to as ``1 - exp(-damping t)``."""
    force, damping = 12.0, 10.0
    wrench = [force, 0, 0, 0, 0, 0]
    law = Continuous(lambda t, q, qd: force_control(arm_state(CART, q, qd), wrench, damping))
    cart = SimulatedArm(CART, law, [0.0], step=2e-3)
    for seconds in (0.1, 1.0):
        cart.advance(round(seconds / cart.step))
        assert_allclose(cart.qd, force / (damping * MASS) * (1 - np.exp(-damping * cart.t)), rtol=1e-8)


def test_a_wrench_changes_at_a_limited_rate():
    """Straight to the target, the force and the moment each by its own step, and exactly there in the end."""
    target = np.array([3.0, 4.0, 0.0, 0.0, 0.0, -0.5])
    wrench = start = np.array([0.0, 0.0, 12.0, 0.1, 0.0, 0.0])  # the force has 13 N to go
    for k in range(1, 30):
        new = rate_limited_wrench(wrench, target, 0.5, 0.1)
        assert_allclose(np.linalg.norm(new[:3] - wrench[:3]), 0.5 if k <= 26 else 0.0, rtol=0, atol=1e-12)
        assert_allclose(new[:3], start[:3] + min(1.0, k / 26) * (target - start)[:3], rtol=0, atol=1e-12)
        share = min(1.0, k * 0.1 / np.hypot(0.1, 0.5))
        assert_allclose(new[3:], start[3:] + share * (target - start)[3:], rtol=0, atol=1e-12)
        wrench = new
    assert_allclose(wrench, target, rtol=0, atol=1e-13)
    assert_array_equal(rate_limited_wrench(target, target, 0.0, 0.0), target)
    assert_array_equal(rate_limited_wrench(start, target, 0.0, inf), [*start[:3], *target[3:]])
    assert_array_equal(start, [0, 0, 12, 0.1, 0, 0])  # what is given is left alone


# --- soft limits ------------------------------------------------------------------------------------------------

LIMIT, EFFORT, MARGIN, BANDWIDTH = 1.0, 40.0, 0.2, 30.0
HEAVY = 2 * EFFORT / MARGIN / BANDWIDTH**2
"""kg; it would swing slower than the bandwidth on a spring that takes all the effort."""
LIGHT = HEAVY / 4


def walls(q: float, qd: float = 0.0, mass: float = LIGHT, lower: float = -LIMIT, upper: float = LIMIT) -> float:
    """On one joint."""
    return soft_limits(made_up(mass, q, qd), [lower], [upper], [EFFORT], MARGIN, BANDWIDTH)[0]


@pytest.mark.parametrize("mass", [LIGHT, HEAVY])
def test_walls_only_push(mass):
    """Nothing outside the margin, however fast; never towards the limit; alike on both sides."""
    for qd in (-50.0, -1.0, 0.0, 1.0, 50.0):
        for q in np.linspace(-LIMIT + MARGIN, LIMIT - MARGIN, 9) * (1 - 1e-12):
            assert walls(q, qd, mass) == 0
        for q in LIMIT - MARGIN * np.linspace(-0.5, 0.999, 9):
            assert walls(q, qd, mass) <= 0
            assert_allclose(walls(-q, -qd, mass), -walls(q, qd, mass), rtol=0, atol=1e-10)
    assert walls(LIMIT - 0.5 * MARGIN, -50.0, mass) == 0  # on its way out it is let go, not held


def test_a_heavy_joint_is_stopped_with_all_the_effort_at_the_limit():
    """The spring is linear up to there, and is that of the effort limit."""
    for share in (0.1, 0.5, 1.0):
        assert_allclose(walls(LIMIT - MARGIN + share * MARGIN, 0.0, HEAVY), -share * EFFORT, rtol=1e-12)


def test_a_light_joint_swings_with_the_bandwidth():
    """``k = m bandwidth^2``, where m is the joint's inertia with the others free."""
    assert_allclose(walls(LIMIT - MARGIN / 2), -LIGHT * BANDWIDTH**2 * MARGIN / 2, rtol=1e-12)
    M = moving(SEVEN, 5).M
    state = made_up(M, q=[0, 0, 0, LIMIT - 0.1, 0, -LIMIT + 0.05, 0])
    tau = soft_limits(state, np.full(7, -LIMIT), np.full(7, LIMIT), np.full(7, 1e9), MARGIN, BANDWIDTH)
    for i, depth in ((3, -0.1), (5, 0.15)):
        others = [j for j in range(7) if j != i]
        free = M[i, i] - M[i, others] @ np.linalg.solve(M[np.ix_(others, others)], M[others, i])
        assert_allclose(tau[i], free * BANDWIDTH**2 * depth, rtol=1e-10)
    assert np.count_nonzero(tau) == 2


@pytest.mark.parametrize("mass", [LIGHT, HEAVY])
def test_a_joint_on_a_wall_is_critically_damped(mass):
    """Pressed in and let go, it returns to where a load holds it, as ``(1 + w t) exp(-w t)``: without overshoot."""
    k = min(EFFORT / MARGIN, mass * BANDWIDTH**2)
    w, rest = np.sqrt(k / mass), LIMIT - 0.5 * MARGIN
    limits = ([-LIMIT], [LIMIT], [EFFORT], MARGIN, BANDWIDTH)
    load = k * 0.5 * MARGIN
    cart = RobotModel.from_urdf(
        robot(link("base"), link("cart", mass), joint("x", "prismatic", "base", "cart", axis=(1, 0, 0)))
    )
    law = Continuous(lambda t, q, qd: load + soft_limits(arm_state(cart, q, qd), *limits))
    arm = SimulatedArm(cart, law, [rest + 0.4 * MARGIN])
    for _ in range(10):
        arm.advance(30)
        left = 0.4 * MARGIN * (1 + w * arm.t) * np.exp(-w * arm.t)
        assert_allclose(arm.q - rest, left, rtol=0, atol=1e-8)


def test_the_damping_of_a_wall_sets_in_gently():
    """A joint that comes in fast meets no step: twice as deep, twice the damper, up to a quarter of the margin."""
    depth, v = 1e-3 * MARGIN, 0.1
    spring, force = -walls(LIMIT - MARGIN + depth), -walls(LIMIT - MARGIN + depth, v)
    assert_allclose(force - spring, 2 * LIGHT * BANDWIDTH * v * 4e-3, rtol=1e-9)
    for share in (0.25, 0.6, 1.0):
        q = LIMIT - MARGIN + share * MARGIN
        assert_allclose(walls(q, v) - walls(q), -2 * LIGHT * BANDWIDTH * v, rtol=1e-9)


def test_joints_without_limits_and_with_little_range():
    """The one meet no wall; of the other half the range stays free, and the wall is as strong at the limit."""
    assert walls(1e6, lower=-inf, upper=inf) == 0
    assert walls(-1e6, lower=-inf) == 0
    assert_allclose(walls(LIMIT - MARGIN / 2, lower=-inf), walls(LIMIT - MARGIN / 2), rtol=1e-12)
    small, heavy = 0.1, 1e9
    for q in np.linspace(-small / 2, small / 2, 5):
        assert walls(q, lower=-small, upper=small) == 0
    for side in (1, -1):
        assert_allclose(walls(side * small, 0.0, heavy, -small, small), -side * EFFORT, rtol=1e-12)


# --- friction of the tip ----------------------------------------------------------------------------------------

STRONG = TipFriction(force=2.0, moment=0.3, slip=1e-3, turn=0.02, bandwidth=60.0, sticking=40.0)
J6 = np.random.default_rng(6).normal(size=(6, 6))


def turned(angle: float, axis) -> np.ndarray:
    """A rotation, by the exponential map."""
    x, y, z = np.asarray(axis) / np.linalg.norm(axis)
    return expm(angle * np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]]))


def at(position=(0, 0, 0), rotation=None, qd=0.0, mass=100.0) -> ArmState:
    """A heavy arm of six joints with its tip somewhere."""
    pose = np.eye(4)
    pose[:3, 3], pose[:3, :3] = position, np.eye(3) if rotation is None else rotation
    return made_up(mass * J6.T @ J6, qd=qd, J=J6, pose=pose)


def wrench(tau: np.ndarray) -> np.ndarray:
    """At the tip, that joint efforts are of."""
    return np.linalg.solve(J6.T, tau)


def test_a_tip_sticks_as_on_a_spring():
    """Up to the slip it is pulled back in proportion; the anchor stays."""
    tau, anchor = tip_friction(at(), None, STRONG)
    assert_array_equal(tau, 0)
    assert_array_equal(anchor.position, 0)
    assert_array_equal(anchor.rotation, np.eye(3))
    for share in (0.3, -0.8, 0.999):
        bend = share * STRONG.slip * np.array([2.0, -1.0, 2.0]) / 3
        tau, after = tip_friction(at(bend), anchor, STRONG)
        assert_allclose(wrench(tau), [*-STRONG.force * bend / STRONG.slip, 0, 0, 0], rtol=0, atol=1e-10)
        assert_allclose(after.position, anchor.position, rtol=0, atol=1e-18)


def test_a_tip_slides_against_a_constant_force():
    """At most as great as given, whatever the distance; the anchor is dragged along behind, at the slip."""
    direction = np.array([2.0, -1.0, 2.0]) / 3
    _, anchor = tip_friction(at(), None, STRONG)
    for way in np.arange(1, 50) * 0.3 * STRONG.slip:
        tau, anchor = tip_friction(at(way * direction), anchor, STRONG)
        held = min(way, STRONG.slip)
        assert_allclose(wrench(tau), [*-STRONG.force * held / STRONG.slip * direction, 0, 0, 0], rtol=0, atol=1e-10)
        assert_allclose(anchor.position, (way - held) * direction, rtol=0, atol=1e-15)
    back = way - 1.5 * STRONG.slip  # it turns round: the bristle straightens, and then bends to the other side
    tau, _ = tip_friction(at(back * direction), anchor, STRONG)
    assert_allclose(wrench(tau)[:3], 0.5 * STRONG.force * direction, rtol=0, atol=1e-10)


def test_a_tip_that_turns_meets_a_moment():
    """By small steps about any axis: as the sine of the angle up to the turn, constant then; the anchor follows."""
    axis, offset = np.array([1.0, 2.0, -2.0]) / 3, turned(1.0, (0.3, -0.5, 0.2))
    _, anchor = tip_friction(at(rotation=offset), None, STRONG)
    most = asin(STRONG.turn)
    for angle in np.arange(1, 400) * 1e-3:
        tau, anchor = tip_friction(at(rotation=turned(angle, axis) @ offset), anchor, STRONG)
        behind = min(angle, most)
        moment = STRONG.moment * np.sin(behind) / STRONG.turn
        assert_allclose(wrench(tau), [0, 0, 0, *-moment * axis], rtol=0, atol=1e-10)
        assert_allclose(anchor.rotation, turned(angle - behind, axis) @ offset, rtol=0, atol=1e-12)


def test_the_anchor_of_a_loaded_tip_does_not_creep():
    """It stays where it is as long as the tip sticks, however often it is looked at: here for 4 s at 500 Hz."""
    bend, twist = 0.9 * STRONG.slip * np.array([0.0, 0.6, 0.8]), turned(0.9 * STRONG.turn, (1, 2, 3))
    anchor = Anchor(np.zeros(3), np.eye(3))
    state = at(bend, twist)
    first, _ = tip_friction(state, anchor, STRONG)
    for _ in range(2000):
        last, anchor = tip_friction(state, anchor, STRONG)
    assert_allclose(last, first, rtol=0, atol=1e-9)
    assert_allclose(anchor.position, 0, atol=1e-15)
    assert_allclose(anchor.rotation, np.eye(3), rtol=0, atol=1e-12)


def test_a_tip_that_sticks_is_damped_and_one_that_slides_is_not():
    """Neither where only its position slides, nor where only its orientation does, nor where it is caught in motion."""
    slow = 1e-6 * np.arange(1.0, 7.0)
    anchor = Anchor(np.zeros(3), np.eye(3))
    stuck, slid = 0.5 * STRONG.slip * np.eye(3)[0], 2 * STRONG.slip * np.eye(3)[0]
    few, many = turned(0.5 * STRONG.turn, (1, 0, 0)), turned(2 * STRONG.turn, (1, 0, 0))
    for position, rotation, sticks in ((stuck, few, 1), (slid, few, 0), (stuck, many, 0), (slid, many, 0)):
        for qd in (slow, 1e3 * slow, 1e6 * slow):
            share = np.exp(-((np.linalg.norm(J6[:3] @ qd) / STRONG.creep) ** 2))
            state = at(position, rotation, qd)
            damping = tip_friction(state, anchor, STRONG)[0] - tip_friction(at(position, rotation), anchor, STRONG)[0]
            expected = -share * sticks * STRONG.sticking * state.momentum
            assert_allclose(damping, expected, rtol=1e-9, atol=1e-9)


def test_a_light_tip_hangs_on_a_weaker_bristle():
    """``m bandwidth^2`` in the direction where the tip is lightest: of the smallest eigenvalue of a 3 by 3 inertia."""
    light = at((0.5 * STRONG.slip, 0, 0), turned(asin(0.5 * STRONG.turn), (0, 0, 1)))
    light = light._replace(M=J6.T @ np.diag([0.01, 0.02, 0.03, 1e-3, 2e-3, 3e-3]) @ J6 + 1e-4)
    mobility = light.J @ np.linalg.inv(light.M) @ light.J.T
    lightest = [np.linalg.eigvalsh(np.linalg.inv(mobility[part, part]))[0] for part in (slice(3), slice(3, 6))]
    k_linear, k_angular = np.array(lightest) * STRONG.bandwidth**2
    assert k_linear < STRONG.force / STRONG.slip
    assert k_angular < STRONG.moment / STRONG.turn
    tau, _ = tip_friction(light, Anchor(np.zeros(3), np.eye(3)), STRONG)
    expected = [-k_linear * STRONG.slip / 2, 0, 0, 0, 0, -k_angular * STRONG.turn / 2]
    assert_allclose(wrench(tau), expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_friction_never_exceeds_what_it_is(seed):
    """Along a random walk of a random arm's tip; nor is the anchor ever farther away than the bristle is long."""
    rng = np.random.default_rng(seed)
    q, anchor, model = rng.uniform(-1, 1, 7), None, SEVEN
    friction = STRONG._replace(sticking=0.0)
    for _ in range(200):
        q = q + rng.normal(size=7) * 2e-3
        state = arm_state(model, q, np.zeros(7))
        tau, anchor = tip_friction(state, anchor, friction)
        at_tip = np.linalg.lstsq(state.J.T, tau, rcond=None)[0]
        assert np.linalg.norm(at_tip[:3]) <= friction.force * (1 + 1e-9)
        assert np.linalg.norm(at_tip[3:]) <= friction.moment * (1 + 1e-9)
        gap = np.linalg.norm(state.pose[:3, 3] - anchor.position)
        twist = state.pose[:3, :3].T @ anchor.rotation
        axial = np.array([twist[2, 1] - twist[1, 2], twist[0, 2] - twist[2, 0], twist[1, 0] - twist[0, 1]]) / 2
        angle = atan2(float(np.linalg.norm(axial)), (np.trace(twist) - 1) / 2)
        assert gap <= friction.slip * (1 + 1e-9)
        assert angle <= asin(friction.turn) * (1 + 1e-9)
        assert_allclose(anchor.rotation @ anchor.rotation.T, np.eye(3), rtol=0, atol=1e-12)


# --- hand-guiding -----------------------------------------------------------------------------------------------


def test_a_guided_arm_is_the_sum_of_its_laws():
    """Weight and damping, its share of the joints' friction, the tip's friction, the hand's help, the walls."""
    state = moving(SEVEN, 2)
    hand = np.array([6.0, 0.0, 8.0, 1.0, 2.0, 3.0])
    lower, upper, effort_limit = state.q - 2.0, state.q + 2.0, np.full(7, 50.0)
    assert state.qd[4] < 0
    lower[4] = state.q[4] - 0.05  # it comes in
    guiding = HandGuidingParameters(damping=3.0, friction=0.6, assistance=1.5, deadband=4.0, margin=0.1, bandwidth=20.0)
    anchor = Anchor(state.pose[:3, 3] + 2e-3, state.pose[:3, :3])  # it slides, so that the anchor follows
    held, next_anchor = tip_friction(state, anchor, guiding.tip)
    expected = state.gravity - 3.0 * state.M @ state.qd + 0.6 * state.friction + held
    expected = expected + 1.5 * 0.6 * hand @ state.J  # 10 N, of which 4 do not count
    wall = soft_limits(state, lower, upper, effort_limit, 0.1, 20.0)
    assert np.count_nonzero(wall) == 1
    tau, after = hand_guiding(state, anchor, guiding, lower, upper, effort_limit, hand)
    assert_allclose(tau, expected + wall, rtol=0, atol=1e-10)
    assert_array_equal(after.position, next_anchor.position)
    assert_array_equal(after.rotation, next_anchor.rotation)
    unknown, _ = hand_guiding(state, anchor, guiding, lower, upper, effort_limit)
    assert_allclose(tau - unknown, 0.9 * hand @ state.J, rtol=0, atol=1e-10)


def test_the_hand_is_assisted_beyond_its_deadband():
    """Nothing up to it, no step there, then in proportion; along the hand's own force, with its share of the moment."""
    hand = np.array([3.0, 0.0, -4.0, 0.5, -1.0, 0.2])  # 5 N
    for deadband in (5.0, 6.0, inf):
        assert_array_equal(assistance(hand, 2.0, deadband), 0)
    assert_allclose(assistance(hand, 2.0, 5.0 - 1e-9), 0, atol=1e-8)
    for gain, deadband in ((1.0, 0.0), (2.0, 3.0), (0.5, 4.0)):
        assert_allclose(assistance(hand, gain, deadband), gain * (5.0 - deadband) / 5.0 * hand, rtol=1e-12)
    assert_array_equal(assistance([0, 0, 0, 1, 2, 3], 2.0, 0.0), 0)


def test_a_rate_is_reduced_to_what_the_period_bears():
    """Rate times period is `MAX_RATE_TIMES_PERIOD` at most; where no period is known, the rate stays."""
    assert limit_rate_to_sampling(100.0, 0.002) == 100.0
    assert limit_rate_to_sampling(100.0, 0.004) == MAX_RATE_TIMES_PERIOD / 0.004
    assert limit_rate_to_sampling(100.0, 0.0) == 100.0
    assert limit_rate_to_sampling(0.0, 0.1) == 0.0


@pytest.mark.parametrize(
    ("share", "most", "swings"), [(0.25, 0.0, False), (MAX_RATE_TIMES_PERIOD, 0.02, True), (1.01, inf, True)]
)
def test_a_damping_that_acts_a_period_late(share, most, swings):
    """``v[k+1] = v[k] - share v[k-1]``: no swing up to a quarter, little at `MAX_RATE_TIMES_PERIOD`, none to be had beyond one."""
    v = [1.0, 1.0]
    for _ in range(400):
        v.append(v[-1] - share * v[-2])
    assert (min(v) < 0) == swings
    assert -min(v) <= most
    assert (abs(v[-1]) < 1e-9) == (share < 1)
