# SPDX-License-Identifier: Apache-2.0
"""Mode impedance in virtual time, judged by the motion of the arm: free, pushed, at walls, through late loops."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from light_arms import Held, Loop, light, light_arm, play
from robots import mock_arm
from ros2_dyn.control.cartesian_impedance import displacement
from ros2_dyn.control.modes.impedance import Spring
from ros2_dyn.control.passivity_observer import ENERGY_BUDGET
from ros2_dyn.dynamics import forward_kinematics, jacobian, mass_matrix
from ros2_dyn.model.spatial import quaternion_from_rotation
from ros2_dyn.runtime import PoseSample, Settings, WrenchSample
from ros2_dyn.runtime.inputs import SettingsChange
from ros2_dyn.simulation.contact import Contact
from runtime_rig import DRIVES, NAMES, SMALL_ARM, RuntimeRig
from tiers import FULL, part

TIP = SMALL_ARM.default_tip
SOFT = [800.0] * 3 + [20.0] * 3


def rig(**changes) -> RuntimeRig:
    """Return a rig of the small arm, whose friction lets it creep to where its spring is at rest."""
    settings = Settings.from_values({"robot.joints": NAMES, "commands.ramp_time": 0.05, **DRIVES, **changes})
    made = RuntimeRig(settings)
    made.targets = False
    made.step(20)
    return made


def spring(made: RuntimeRig) -> Spring:
    """Return the spring of the mode."""
    return made.runtime.active_mode.spring


def enter(made: RuntimeRig) -> np.ndarray:
    """Enter the mode, and return where the tip is, shape (4, 4)."""
    reply = made.set_mode("impedance")
    assert reply.error is None, reply.error
    made.step(20)
    return tip(made)


def tip(made: RuntimeRig) -> np.ndarray:
    """Return the pose of the tip, shape (4, 4)."""
    return forward_kinematics(SMALL_ARM, made.q)


def desire(made: RuntimeRig, pose: np.ndarray, frame: str = "") -> None:
    """Desire a pose in the frame of a link."""
    numbers = [*pose[:3, 3], *quaternion_from_rotation(pose[:3, :3])]
    made.take(made.runtime.step(PoseSample(0, frame, numbers), made.now))


def shifted(pose: np.ndarray, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> np.ndarray:
    """Return a pose that is elsewhere, m."""
    moved = pose.copy()
    moved[:3, 3] += (x, y, z)
    return moved


def test_pose_that_was_desired_long_before_the_mode_is_not_followed():
    made = rig()
    start = enter(made)
    pose = shifted(start, 0.0, 0.05, 0.1)
    numbers = [*pose[:3, 3], *quaternion_from_rotation(pose[:3, :3])]
    made.take(made.runtime.step(PoseSample(made.stamp(-5.0), "", numbers, made.stamp(0.0)), made.now))
    made.step(400)
    assert np.linalg.norm(tip(made)[:3, 3] - start[:3, 3]) < 1e-3


def test_without_a_desired_pose_the_arm_stays_where_it_is():
    made = rig()
    made.step(5)
    start = tip(made)
    enter(made)
    made.step(300)
    assert np.linalg.norm(tip(made)[:3, 3] - start[:3, 3]) < 1e-3
    assert made.runtime.mode == "impedance"
    assert not made.violations


@pytest.mark.parametrize("frame", ["", TIP])
def test_desired_pose_in_any_frame_is_approached_slowly_and_reached(frame):
    """The frame of the tip is that when the message came. Three joints reach any position, but turn as they must."""
    made = rig(**{"impedance.stiffness": [3000.0] * 3 + [0.0] * 3})
    start = enter(made)
    goal = shifted(start, 0.0, 0.05, 0.1)
    desire(made, np.linalg.inv(start) @ goal if frame else goal, frame)
    speeds = []
    for _ in range(500):
        made.step()
        speeds.append(np.linalg.norm((jacobian(SMALL_ARM, made.q) @ made.qd)[:3]))
    assert max(speeds) < 1.3 * made.settings.commands.approach_speed
    assert np.linalg.norm(tip(made)[:3, 3] - goal[:3, 3]) < 0.012  # as friction lets it
    assert made.runtime.mode == "impedance", made.runtime.reason


def test_far_pose_out_of_reach_pulls_with_no_more_than_the_largest_force():
    made = rig(**{"commands.max_force": 20.0})
    start = enter(made)
    desire(made, shifted(start, 0.0, 0.0, 5.0))
    for _ in range(600):
        made.step()
        assert np.linalg.norm(spring(made).wrench[:3]) <= 20.0 + 1e-9
    assert made.runtime.mode == "impedance", made.runtime.reason


@pytest.mark.parametrize("delay", [0.0, 0.03])
def test_stiffness_that_a_late_loop_does_not_bear_is_told(delay):
    made = rig(**{"commands.delay": delay, "impedance.stiffness": SOFT})
    enter(made)
    (numbers, warning), loop = made.runtime.active_mode.report(), made.runtime.loop
    share = numbers["share of the desired stiffness"]
    assert loop.command_delay == delay
    assert loop.longest >= delay
    assert share == 1.0 if delay == 0 else 0.0 < share < 0.8
    assert ("of the desired stiffness: the loop is late" in warning) == (delay > 0)
    assert made.set_mode("gravity").error is None


def test_pose_that_was_desired_long_before_the_mode_is_forgotten():
    made = rig()
    start = tip(made)
    desire(made, shifted(start, 0.0, 0.0, 0.2))
    made.step(50)
    enter(made)
    made.step(250)
    assert np.linalg.norm(tip(made)[:3, 3] - start[:3, 3]) < 2e-3


def test_pose_that_cannot_be_is_rejected_and_changes_nothing():
    made = rig()
    start = enter(made)
    for frame, pose, problem in (
        ("", [np.nan, 0, 0, 0, 0, 0, 1], "not finite"),
        ("", [1e9, 0, 0, 0, 0, 0, 1], "at most 100 m"),
        ("", [0, 0, 0, 0, 0, 0, 0], "no rotation"),
        ("", [0, 0, 0, 1e200, 0, 0, 1], "no rotation"),
        ("nowhere", [0, 0, 0, 0, 0, 0, 1], "'nowhere' is no link"),
    ):
        begun = len(made.events)
        made.take(made.runtime.step(PoseSample(0, frame, pose), made.now))
        assert any(problem in event.text for event in made.events[begun:]), problem
    made.step(100)
    assert np.linalg.norm(tip(made)[:3, 3] - start[:3, 3]) < 1e-3


def test_wrench_is_added_while_it_is_fresh_and_fades_when_it_ends():
    """Downwards 10 N on a spring of 800 N/m: 12.5 mm, less what friction holds back."""
    made = rig(**{"impedance.stiffness": [800.0] * 3 + [0.0] * 3, "commands.max_force": 200.0})
    start = enter(made)
    for _ in range(500):
        made.take(made.runtime.step(WrenchSample(0, "", (0.0, 0.0, -10.0, 0.0, 0.0, 0.0)), made.now))
        made.step()
    assert tip(made)[2, 3] - start[2, 3] == pytest.approx(-10.0 / 800.0, rel=0.05)
    made.step(600)
    assert made.runtime.mode == "impedance", made.runtime.reason
    assert abs(tip(made)[2, 3] - start[2, 3]) < 1e-3


def test_force_along_one_axis_and_stiffness_along_the_others():
    """The axis without stiffness yields to the wrench, the others do not; it ends before it has gone too far."""
    made = rig(**{"impedance.stiffness": [3000.0, 3000.0, 0.0, 0.0, 0.0, 0.0], "commands.max_tip_travel": 0.1})
    start = enter(made)
    moved = np.zeros(3)
    while made.runtime.mode == "impedance" and made.now < 130:
        made.take(made.runtime.step(WrenchSample(0, "", (0.0, 0.0, -6.0, 0.0, 0.0, 0.0)), made.now))
        made.step()
        moved = tip(made)[:3, 3] - start[:3, 3]
        assert np.linalg.norm(moved[:2]) < 5e-3
    assert "travel limit" in made.runtime.reason
    assert moved[2] == pytest.approx(-0.1, abs=5e-3)


def test_stiffness_that_changes_feeds_no_energy_and_makes_no_step():
    """Ten times as stiff at a bent spring: it becomes so over the ramp, and only as far as the tank pays."""
    made = rig(**{"impedance.stiffness": [400.0] * 3 + [0.0] * 3, "commands.ramp_time": 0.5})
    enter(made)
    for _ in range(300):
        made.take(made.runtime.step(WrenchSample(0, "", (0.0, 0.0, -20.0, 0.0, 0.0, 0.0)), made.now))
        made.step()
    before = spring(made).wrench[2]
    bent = abs(before) / 400.0
    stiffer = made.settings.with_values({"impedance.stiffness": [8000.0] * 3 + [0.0] * 3})
    made.take(made.runtime.step(SettingsChange(stiffer), made.now))
    forces = [before]
    for _ in range(70):
        made.take(made.runtime.step(WrenchSample(0, "", (0.0, 0.0, -20.0, 0.0, 0.0, 0.0)), made.now))
        made.step()
        forces.append(spring(made).wrench[2])
    most = (8000.0 - 400.0) * bent * made.period / made.settings.commands.ramp_time
    assert np.max(np.abs(np.diff(forces))) < 1.05 * most
    assert (forces[10] - before) * bent / 2 < 0.5 * 1.1  # the tank's, and hardly anything was damped meanwhile
    waiting = spring(made).tank.K[2, 2]
    made.step(400)
    assert spring(made).tank.K[2, 2] > 1.5 * waiting  # let go of, it comes nearer, so that it costs less


def test_settings_of_the_wrong_length_or_range_are_refused():
    for name, value in (
        ("impedance.stiffness", [1.0]),
        ("impedance.stiffness", [-1.0] * 6),
        ("impedance.frame", "nowhere"),
    ):
        with pytest.raises(Exception, match=name if name != "impedance.frame" else "nowhere"):
            Settings.from_values({name: value}).apply(mock_arm())


# --- contact and delay, on arms with rotors and no friction

LOOPS = [Loop(rate, delay / 2, delay / 2) for rate, delay in product((250.0, 1000.0), (0.0, 0.005, 0.01, 0.02))]
WALLS = (1e3, 1e4, 1e5)
CASES = list(product(("mock_arm", "panda"), LOOPS, WALLS))


@pytest.mark.parametrize(("name", "loop", "wall"), part(CASES, 0, 11, 29), ids=str)
def test_contact_with_a_wall_bounces_no_longer_and_ends_in_the_springs_force(name, loop, wall):
    """The spring is at rest 4 cm within the wall; the impact is that of 0.1 m/s on it."""
    made = play(
        *light_arm(name), "impedance", loop, force=0.0, stiffness=wall, depth=0.05, **{"impedance.stiffness": SOFT}
    )
    print(f"{name} {loop} {wall:g}: {made}")
    assert made.refused == ""
    assert made.tip_speed <= 0.25
    assert made.force <= 40.0 + 1.1 * made.impact
    if not made.ended:
        first, second = made.bounces
        assert second <= 1.1 * first + 1.0
        if loop.states == 0:
            assert made.last_speed < 0.01
            assert made.last_force <= 0.05 * 800.0


@pytest.mark.parametrize("loop", part(LOOPS, 3), ids=str)
def test_arm_that_is_pushed_gives_way_and_returns(loop):
    arm, home = light_arm("mock_arm")
    made = play(
        arm, home, "impedance", loop, force=0.0, gap=None, push=8.0, seconds=3.5, **{"impedance.stiffness": SOFT}
    )
    assert made.refused == made.ended == ""
    assert made.last_speed < 0.2 * made.tip_speed
    assert made.tip_speed > 0.02


# --- posture, and stiffness that changes for long


def test_posture_of_a_seven_axis_arm_returns_without_moving_the_tip():
    q = np.array([0.0, -0.3, 0.0, -2.0, 0.0, 1.7, 0.78])
    arm = light("panda")
    rest = forward_kinematics(arm, q)
    held = Held("panda", q.tolist(), lambda t: rest, **{"impedance.stiffness": [2000.0] * 3 + [50.0] * 3})
    free = np.linalg.svd(jacobian(arm, q))[2][-1]
    held.world.run(1.0)
    held.spring.posture = q + 0.6 * free / np.abs(free).max()
    held.world.run(5.0 if FULL else 3.0)
    error = np.array(held.samples)[:, 1]
    moved = held.world.arm.q - q
    print(f"largest motion of the tip {1e3 * error.max():.3f} mm, of a joint {np.abs(moved).max():.2f} rad")
    assert np.abs(moved).max() > 0.3
    assert error.max() < 1e-3


class Pushing(Contact):
    """A force at the tip that changes all the time, with slow and quick parts, and the work that it does."""

    kind = "pushing"

    def __init__(self, rng: np.random.Generator) -> None:
        self.link, self.point = "tool0", (0.0, 0.0, 0.0)
        self.work = 0.0
        self._newest: tuple[float, float] | None = None
        self._size, self._phase = rng.uniform(-4.0, 4.0, (4, 3)), rng.uniform(0.0, 6.3, (4, 3))
        self._omega = 2 * np.pi * rng.uniform(0.1, 2.0, (4, 3))

    def force_at(self, t, position, velocity):
        """See `Contact`."""
        force = np.sum(self._size * np.sin(self._omega * t + self._phase), axis=0)
        power = float(force @ velocity)
        if self._newest is not None:
            self.work += (t - self._newest[0]) * (power + self._newest[1]) / 2
        self._newest = t, power
        return force


@pytest.mark.parametrize("seed", part(range(4), 0))
def test_stiffness_switched_at_random_feeds_no_energy_into_a_pushed_arm(seed):
    """Ten times a second; with FULL=1 for ten minutes.

    From no time on the arm, its spring and the tank gain more than the work of what pushes the arm.
    """
    rng, seconds = np.random.default_rng(seed), 600.0 if FULL else 3.0
    home = [0.0, -1.2, 1.4, -1.8, -1.57, 0.0]
    pushing, rest = Pushing(rng), forward_kinematics(mock_arm(), home)
    held = Held(
        "mock_arm",
        home,
        lambda t: rest,
        contacts=[pushing],
        **{"commands.max_tip_speed": 2.0, "commands.ramp_time": 0.05},
    )
    held.world.run(2.0)
    spring, gained = held.spring, []

    def switch() -> None:
        k = (10 ** rng.uniform(2.3, 3.5, 6)) * [1, 1, 1, 0.02, 0.02, 0.02]
        held.world.tell_settings(**{"impedance.stiffness": k.tolist()})

    def measure() -> None:
        arm = held.world.arm
        bent = displacement(forward_kinematics(held.arm, arm.q), spring.rest).energy(spring.tank.K)
        kinetic = float(arm.qd @ mass_matrix(held.arm, arm.q) @ arm.qd) / 2
        gained.append(kinetic + bent + spring.tank.energy - pushing.work)

    held.world.queue.every(0.1, switch)
    held.world.queue.every(0.02, measure)
    held.world.run(2.0 + seconds)
    assert held.spring is spring, "the mode ended, and began with another tank"
    fed = np.max(gained - np.minimum.accumulate(gained))
    print(f"{fed:.4f} J fed at most, {gained[0] - gained[-1]:.2f} J taken in {seconds:g} s")
    assert fed < ENERGY_BUDGET  # what late commands may feed
    assert gained[0] - gained[-1] > 0.1 * seconds  # it was pushed, and damped
