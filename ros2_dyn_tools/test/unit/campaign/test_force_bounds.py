# SPDX-License-Identifier: Apache-2.0
"""Bounds of mode force, judged by what the simulated tip does."""

import numpy as np
import pytest

from arm_world import FRICTIONLESS, ArmWorld, worst
from control_states import made_up
from ros2_dyn.control.contact_watch import ContactWatch
from ros2_dyn.dynamics import forward_kinematics, gravity, mass_matrix
from ros2_dyn.errors import MessageError
from ros2_dyn.runtime import WrenchSample
from ros2_dyn.runtime.targets import check_ceiling
from ros2_dyn.simulation.wall import Wall
from tiers import part


def pressing(force, rate=250.0, distance=None, **settings) -> ArmWorld:
    """Return a world in which a force in base axes, N, is desired, with a wall below the tip at a distance, m."""
    world = ArmWorld(arm=FRICTIONLESS, rate=rate, **{"states.timeout": 0.2}, **settings)
    world.targets.faults.append(lambda messages: [m for m in messages if not isinstance(m, WrenchSample)])

    def desired():
        sample = WrenchSample(0, "", (*force, 0.0, 0.0, 0.0))
        world.node.input(sample)

    world.queue.every(0.02, desired)
    if distance is not None:
        world.wall = Wall("tool0", (world.arm.tip_position() - [0, 0, distance]).tolist(), (0, 0, 1.0), stiffness=2e4)
        world.add_contact(world.wall)
    return world


def travelled(world: ArmWorld, since: float) -> float:
    """Return how far the tip has moved since a time, s; m."""
    tips = [forward_kinematics(world.arm_model, q)[:3, 3] for q in world.positions(since)]
    return float(np.max(np.linalg.norm(np.array(tips) - tips[0], axis=1)))


@pytest.mark.parametrize("rate", [50.0, 125.0])
def test_fifty_newtons_are_refused_where_the_delay_allows_less(rate):
    world = pressing((0.0, 15.0, -47.0), rate)
    world.play("force", 1.5)
    assert world.modes() == ["monitor"]
    assert any("allows no force of 49.3 N" in text for (text,) in world.details("refused"))
    assert world.travel() < 0.01


@pytest.mark.parametrize("rate", part([50.0, 125.0], 1))
def test_fifty_newtons_without_contact_end_or_stay_slow(rate):
    """They are desired from 1.5 s on."""
    force = [0.0, 1.5, -4.7]
    world = pressing(force, rate)
    world.at(1.5, lambda: force.__setitem__(slice(3), [0.0, 15.0, -47.0]))
    world.play("force", 5.0)
    assert world.tip_speed() < 0.255
    assert travelled(world, 0.0) < 0.3
    assert world.reasons()[0].startswith("delay: ")


def test_a_force_above_the_ceiling_is_rejected_and_never_exerted():
    world = pressing((0.0, 0.0, -200.0))
    world.play("force", 1.5)
    assert world.modes() == ["monitor"]
    texts = [text for _, text in world.details("event")]
    assert any("wrench.force: too large: 200 N, at most 50 N are allowed" in text for text in texts)
    assert world.travel() < 0.01


def test_a_force_that_rises_above_the_ceiling_amid_the_mode_stops_it():
    force = [0.0, 0.0, -10.0]
    world = pressing(force, distance=0.02)
    world.at(2.0, lambda: force.__setitem__(2, -1e5))
    world.play("force", 2.5)
    assert world.reasons()[0].startswith("target stale")
    assert worst(world, "contact force") < 15.0


@pytest.mark.parametrize("rate", part([250.0, 500.0], 0))
@pytest.mark.parametrize("lost", [0.35, 0.4, 0.45])
def test_tip_that_is_not_seen_is_not_driven_by_the_newest_command_until_states_are_almost_too_old(rate, lost):
    """Nothing damps it: what drives it fades as soon as states are later than they were. The force still rises."""
    world = pressing((0.0, 0.0, -20.0), rate)
    world.want_mode("force")
    world.run(lost)
    world.state_channel.drop_rate = 1.0
    model, q, before = world.arm_model, np.array(world.arm.q), np.abs(world.arm.qd).max()
    world.run(lost + 0.16)
    record = world.finish()
    push = record.commands.effort[record.commands.t < lost][-1] - gravity(model, q)
    acceleration = np.abs(np.linalg.solve(mass_matrix(model, q), push)).max()
    gained = np.abs(record.motion.qd[record.motion.t >= lost]).max() - before
    assert gained < acceleration * 0.4 * world.options.settings.states.timeout


def test_the_tip_travels_no_farther_than_its_limit():
    world = pressing((0.0, 0.0, -15.0), **{"commands.max_tip_travel": 0.05})
    world.play("force", 4.0)
    assert world.reasons()[0].startswith("travel limit: the tip is 0.05")
    assert travelled(world, 0.0) < 0.07


def test_a_lost_contact_stops_the_mode_within_centimetres():
    """The tip presses with 20 N for a second; then the wall is gone."""
    world = pressing((0.0, 0.0, -20.0), distance=0.01)
    world.at(3.0, lambda: world.remove_contact(world.wall))
    world.play("force", 5.0)
    assert world.reasons() == ["contact lost"]
    assert 0.02 < travelled(world, 3.0) < 0.05
    assert world.tip_speed(3.0) < 0.1


@pytest.mark.parametrize("force", part([(0.0, 0.0, 20.0), (20.0, 0.0, 0.0), (0.0, -20.0, 0.0), (14.0, 0.0, -14.0)], 3))
def test_a_force_along_the_axes_of_a_wrong_frame_moves_the_tip_slowly_and_not_far(force):
    """Downwards was meant, where the wall is."""
    check_bounds(pressing(force, distance=0.01), 20.0)


@pytest.mark.parametrize("touching", part([(0.15, 0.0, 0.0), (0.0, -0.3, 0.0), (0.0, 0.0, 0.15)], 1))
def test_a_tool_whose_tip_is_elsewhere_than_described_presses_no_harder(touching):
    """The wall touches a point beside the tip that the description has, m: the arm turns about it."""
    world = pressing((0.0, 0.0, -20.0))
    pose = forward_kinematics(world.arm_model, world.arm.q)
    origin = pose[:3, 3] + pose[:3, :3] @ touching - [0, 0, 0.01]
    world.add_contact(Wall("tool0", origin.tolist(), (0, 0, 1.0), touching, stiffness=2e4))
    check_bounds(world, 25.0)


def check_bounds(world: ArmWorld, force: float) -> None:
    """Press for 5 s: the wall with a force, N, at most; the tip within its speed and travel, and joints slowly."""
    world.play("force", 6.0)
    assert "force" in world.modes()
    assert worst(world, "contact force") < force
    assert world.tip_speed() < 0.25
    assert world.joint_speed() < 0.5
    assert travelled(world, 0.0) < 0.32


FORCE = np.array([0.0, 0.0, -20.0])


def watch(watch: ContactWatch, t: float, height: float, speed: float, force=FORCE, target=FORCE) -> bool:
    """Give a watch a tip of 2 kg at a height, m, that sinks with a speed, m/s; return whether the contact is lost."""
    pose = np.eye(4)
    pose[2, 3] = height
    state = made_up(2.0 * np.eye(6), qd=[0, 0, -speed, 0, 0, 0], pose=pose)
    watch.observe(state, force=force, target=target, damping=100.0, max_speed=0.25, now=t)
    return watch.lost


def test_a_tip_that_rests_and_then_sinks_has_lost_its_contact():
    """A free tip would sink with 0.1 m/s."""
    contact = ContactWatch()
    assert not watch(contact, 0.0, 1.0, 0.0)
    assert not watch(contact, 0.1, 1.0, 0.0)
    assert not watch(contact, 0.2, 0.985, 0.1)
    assert watch(contact, 0.3, 0.975, 0.1)


@pytest.mark.parametrize(
    ("rest", "force", "target"),
    [(0.05, FORCE, FORCE), (1.0, 0.5 * FORCE, FORCE), (1.0, FORCE, 2 * FORCE), (1.0, 0.05 * FORCE, 0.05 * FORCE)],
    ids=["too short", "still rising", "more is desired", "small"],
)
def test_a_tip_that_never_rested_under_its_force_has_no_contact_to_lose(rest, force, target):
    contact = ContactWatch()
    watch(contact, 0.0, 1.0, 0.0, force, target)
    watch(contact, rest, 1.0, 0.0, force, target)
    assert not watch(contact, rest + 0.1, 0.9, 0.1)


def test_travel_is_the_distance_from_where_the_mode_began():
    contact = ContactWatch()
    watch(contact, 0.0, 1.0, 0.0)
    watch(contact, 0.1, 0.8, 0.0)
    assert contact.travel == pytest.approx(0.2)
    contact = ContactWatch()
    assert contact.travel == 0.0


@pytest.mark.parametrize(("wrench", "problem"), [((0, 0, 51.0, 0, 0, 0), "force"), ((0, 0, 0, 0, 11.0, 0), "torque")])
def test_a_wrench_above_its_ceiling_is_rejected_by_field(wrench, problem):
    with pytest.raises(MessageError, match=f"wrench.{problem}.*too large"):
        check_ceiling(wrench, 50.0, 10.0)
    check_ceiling((30.0, 40.0, 0, 10.0, 0, 0), 50.0, 10.0)
