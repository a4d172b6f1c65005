# SPDX-License-Identifier: Apache-2.0
"""The smallest force that is felt: by hand on one joint, and by pushes played into recordings."""

import numpy as np
import pytest

from real_arms import REAL_ARMS, real_arm
from recordings import DRIVES, MODEL, efforts, exciting_motion, recording
from ros2_dyn.dynamics import jacobian
from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn_tools.identification.identification import Options
from ros2_dyn_tools.passport.felt_forces import FELT, WITHIN, Watch, felt_forces
from ros2_dyn_tools.passport.passport import passport
from ros2_dyn_tools.recording.detection import observe, step_response
from ros2_dyn_tools.recording.effort_filter import EffortFilter
from ros2_dyn_tools.recording.friction_identification import identify_friction
from ros2_dyn_tools.recording.recording import Recording
from ros2_dyn_tools.report.contact_report import collision_report

pytest.importorskip("scipy", reason="SciPy is not installed")
PENDULUM = RobotModel.from_urdf("""<robot name="pendulum"><link name="base"/><link name="arm">
<inertial><mass value="1"/>
<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link><link name="tip"/>
<joint name="swing" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
<limit lower="-3" upper="3" effort="10" velocity="3"/></joint>
<joint name="end" type="fixed"><parent link="arm"/><child link="tip"/><origin xyz="0.5 0 0"/></joint></robot>""")

SLIDE = RobotModel.from_urdf("""<robot name="slide"><link name="base"/>
<link name="cart"><inertial><mass value="1"/>
<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link><link name="arm"><inertial>
<mass value="1"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link><link name="tip"/>
<joint name="slide" type="prismatic"><parent link="base"/><child link="cart"/><axis xyz="1 0 0"/>
<limit lower="-1" upper="1" effort="10" velocity="3"/></joint>
<joint name="swing" type="revolute"><parent link="cart"/><child link="arm"/><axis xyz="0 1 0"/>
<limit lower="-3" upper="3" effort="10" velocity="3"/></joint>
<joint name="end" type="fixed"><parent link="arm"/><child link="tip"/><origin xyz="0.5 0 0"/></joint></robot>""")


def test_forces_on_a_pendulum_are_those_of_its_lever():
    """It is level, 0.5 m long, and nothing disturbs it: half a second of 2 N m has to be reached."""
    t = np.arange(0, 4, 0.01)
    still = np.zeros((len(t), 1))
    watch = Watch(Recording(t, still, still, still), still, [2.0], 25.0)
    found = {each.direction: each for each in felt_forces(PENDULUM, watch)}
    force = 2.0 / 0.5 / step_response(np.array([WITHIN]), 25.0)[0]
    assert found["z"].force == pytest.approx(force, rel=1e-4)
    assert found["easiest"].force == pytest.approx(force, rel=1e-4)
    assert found["x"].force == found["y"].force == found["hardest"].force == np.inf
    assert found["z"].delay == pytest.approx(np.log(2) / 25.0, abs=0.01)  # 1 - exp(-25 t) = 1/2
    assert np.isnan(found["x"].delay)
    assert found["about y"].force == pytest.approx(0.5 * force, rel=1e-4)
    assert found["about x"].force == np.inf


def test_filter_of_the_driver_delays_what_is_felt():
    t = np.arange(0, 4, 0.01)
    still = np.zeros((len(t), 1))
    filtered = EffortFilter("first_order", 1.0)
    watch = Watch(Recording(t, still, still, still), still, [2.0], 25.0, filtered)
    found = {each.direction: each for each in felt_forces(PENDULUM, watch)}
    assert found["z"].force == pytest.approx(4.0 / step_response(np.array([WITHIN]), 25.0, filtered)[0], rel=0.01)
    assert found["z"].delay > 0.1


def test_forces_at_far_ends_load_the_joints_before_them_alone():
    """A slide along x carries a pendulum: at the slide's end, where the pendulum hangs, a force loads the slide."""
    t = np.arange(0, 4, 0.01)
    still = np.zeros((len(t), 2))
    watch = Watch(Recording(t, still, still, still), still, [3.0, 2.0], 25.0)
    found = {(each.link, each.joint, each.direction): each.force for each in felt_forces(SLIDE, watch)}
    rise = step_response(np.array([WITHIN]), 25.0)[0]
    assert found["cart", "swing", "x"] == pytest.approx(3.0 / rise, rel=1e-4)
    assert found["cart", "swing", "z"] == np.inf
    assert found["tip", "", "x"] == pytest.approx(3.0 / rise, rel=1e-4)
    assert found["tip", "", "z"] == pytest.approx(2.0 / 0.5 / rise, rel=1e-4)


def test_detector_that_is_on_without_a_push_tells_no_force():
    t = np.arange(0, 4, 0.01)
    still = np.zeros((len(t), 1))
    watch = Watch(Recording(t, still, still, still), 3 * np.sin(10 * t)[:, None], [2.0], 25.0)
    with pytest.raises(InputError, match="exceeded without a push in 100"):
        felt_forces(PENDULUM, watch)
    with pytest.raises(InputError, match="record longer"):
        felt_forces(PENDULUM, Watch(Recording(*(x[:40] for x in watch.recording)), still[:40], [2.0], 25.0))


def share_felt(model, watch, per_newton, force, rng):
    """Return the share of pushes that are felt: half a second each, then half a second without.

    They are played into the efforts, with the arm's posture as it changes; the observer forgets one until the next.
    """
    recording, felt = watch.recording, []
    for _ in range(3):
        phase = (recording.t - recording.t[0] - rng.uniform(0, 1)) / (2 * WITHIN)
        number, pushed = np.floor(phase).astype(int), phase % 1 < 0.5
        external = force * per_newton * pushed[:, None]
        residuals = observe(model, recording._replace(effort=recording.effort - external), watch.bandwidth)
        exceeded = np.any(np.abs(residuals) > watch.thresholds, axis=1)
        felt += [np.any(exceeded[pushed & (number == k)]) for k in range(1, number[-1])]
    return np.mean(felt)


def felt_as_predicted(model, watch, tip):
    """Return whether nine of ten pushes need the predicted forces along x, y and z within 30 %."""
    rng, J = np.random.default_rng(7), jacobian(model, watch.recording.q)[:, :3]
    assert share_felt(model, watch, J[:, 0], 0.0, rng) == 0.0
    for axis, direction in enumerate("xyz"):
        more, less = (
            [share_felt(model, watch, side * J[:, axis], factor * tip[direction], rng) for side in (1, -1)]
            for factor in (1.3, 0.7)
        )
        yield direction, min(more) >= FELT > min(less)


@pytest.mark.parametrize("name", REAL_ARMS)
def test_force_that_nine_of_ten_pushes_need_is_the_predicted_one(name):
    model, recording = real_arm(name)
    model = identify_friction(model, recording.between(0.0, 0.5))
    watch = Watch.of(collision_report(model, recording))
    tip = {each.direction: each.force for each in felt_forces(model, watch) if not each.joint}
    assert all(right for _, right in felt_as_predicted(model, watch, tip))


def test_forces_of_a_passport_hold_in_all_postures_of_the_recording():
    """In the last third, which no model is fitted to, the arm leans another way than before."""
    model = MODEL.reduced(MODEL.joint_names[:3])
    motion = exciting_motion(model, 30.0, 50.0)
    to, done = np.array([0.0, 1.2, 0.0]), np.tanh(motion.t - 20.0)[:, None]
    motion = motion._replace(
        q=motion.q + to * done,
        qd=motion.qd + to * (1 - done**2),
        qdd=motion.qdd - 2 * to * done * (1 - done**2),
    )
    arm = model.with_joint_dynamics({name: DRIVES[name] for name in model.joint_names})
    noise = 0.3 * np.random.default_rng(1).normal(size=motion.q.shape)
    told = recording(motion, efforts(arm, motion) + noise)
    found = passport(model, told, [told], options=Options(), effort_gain=np.ones(3))
    tip = {each.direction: each.force for each in found.felt if not each.joint}
    watch = Watch.of(found.contact)
    assert all(right for _, right in felt_as_predicted(found.identification.model, watch, tip)), tip
