# SPDX-License-Identifier: Apache-2.0
"""The promises: independent of the code that keeps them, broken by deliberate faults, and kept without any."""

from dataclasses import replace

import numpy as np
import pytest

from mutations import MUTATIONS, faults_until_found
from rooms import TOP, imports
from ros2_dyn_tools.campaign import promises
from ros2_dyn_tools.campaign.families import FAMILIES, NOTHING, Disturbances
from ros2_dyn_tools.campaign.record import Commands, Declared, Event, Motion, Record
from ros2_dyn_tools.campaign.runner import play_world, world_seeds
from tiers import FULL

ROOM = TOP / "ros2_dyn_tools" / "ros2_dyn_tools" / "campaign"
FAULTS = 2000
"""Number of faults within which each mutation is found; a campaign plays far more."""
QUICK = {
    "slips forgotten": 1,
    "gravity's sign after a stop": 1,
    "failsafe does nothing": 3,
    "thresholds ignored": 3,
    "payload without ramp": 12,
}
"""Mutations that are played by default, and seeds of campaigns of three faults that show them; FULL=1 plays all."""


@pytest.mark.parametrize("module", ["promise", "promises", "broken", "record"])
def test_promises_import_nothing_of_the_code_that_keeps_them(module):
    rooms = {name.split(".")[1] for name in imports(ROOM / f"{module}.py") if name.startswith("ros2_dyn.")}
    assert rooms <= {"model"}
    own = {name.split(".")[2] for name in imports(ROOM / f"{module}.py") if name.startswith("ros2_dyn_tools.campaign.")}
    assert own <= {"promise", "record", "broken"}


def test_families_share_all_worlds_and_name_faults_once():
    assert sum(family.share for family in FAMILIES.values()) == pytest.approx(1.0)
    assert all(len(set(family.faults)) == len(family.faults) for family in FAMILIES.values())
    for family in FAMILIES.values():
        assert {kind for kinds in family.disturbing for kind in kinds} <= set(family.faults)


def falling_at(t_fall: float, last: str, mode_after: str = "monitor") -> Record:
    """Return a record of a joint that falls from a time on, s; `gravity` is left at 1 s, and held until 2 s."""
    t = np.arange(0, 8, 0.01)
    mode = np.where(t < 1.0, "gravity", mode_after)
    commander = np.where(t < 1.0, "node", np.where(t < 2.0, last, ""))
    qd, none = np.where(t < t_fall, 0.0, 1.0)[:, None], np.zeros(len(t))
    motion = Motion(t, np.cumsum(0.01 * qd, axis=0), qd, none, none, 0 * qd, none, mode, commander)
    one = np.ones(1)
    declared = Declared(
        **dict.fromkeys(Declared.__dataclass_fields__, one)
        | {"joint_names": ("joint",), "modes": ("gravity",), "lower": -one, "upper": 0.5 * one}
    )
    empty = np.zeros((0, 1))
    commands = Commands(empty[:, 0], empty, empty, empty[:, 0], empty[:, 0])
    return Record(declared, motion, commands, [Event(0.0, "mode", ("gravity",))])


@pytest.mark.parametrize("last", ["node", "failsafe", "brakes"])
def test_rest_is_promised_while_anything_holds_the_arm_and_for_two_seconds_more(last):
    checks = [promises.rest(1.0).check, promises.travel.check, promises.position_limit.check]
    for check in checks:
        assert [each.joint for each in check(falling_at(1.5, last), NOTHING)] == ["joint"]
        assert [each.joint for each in check(falling_at(2.5, last), NOTHING)] == ["joint"]
        assert list(check(falling_at(4.5, last), NOTHING)) == []


@pytest.mark.parametrize(("t_fall", "broken"), [(0.5, 1), (2.5, 0)])
def test_rest_is_not_promised_of_an_arm_whose_load_changes_while_nobody_commands_it(t_fall, broken):
    record = falling_at(t_fall, "node")
    record.events.append(Event(t_fall, "arm replaced", ()))
    assert len(list(promises.rest(0.2).check(record, NOTHING))) == broken


@pytest.mark.parametrize(("t_fall", "broken"), [(1.5, 1), (2.5, 1), (4.5, 0)])
def test_force_at_a_wall_is_promised_for_as_long_as_rest(t_fall, broken):
    record = falling_at(t_fall, "node")
    forces = np.where(record.motion.t >= t_fall, 200.0, 0.0)
    record = replace(record, motion=replace(record.motion, contact_force=forces))
    assert len(list(promises.wall_force.check(record, NOTHING))) == broken


def test_rest_is_promised_of_an_arm_whose_node_died_for_as_long_as_it_is_dead():
    for check in (promises.rest(1.0).check, promises.travel.check):
        assert [each.joint for each in check(falling_at(6.0, "", mode_after=""), NOTHING)] == ["joint"]


def test_death_of_a_node_that_commands_no_more_promises_nothing_anew():
    record = falling_at(6.5, "node")
    dead = (record.motion.t > 5.0) & (record.motion.t < 6.0)
    record = replace(record, motion=replace(record.motion, mode=np.where(dead, "", record.motion.mode)))
    for check in (promises.rest(1.0).check, promises.travel.check, promises.position_limit.check):
        assert list(check(record, NOTHING)) == []


@pytest.mark.parametrize(("first_command", "broken"), [(0.5, 1), (1.0, 0)])
def test_failsafe_process_takes_over_from_a_node_that_had_begun_to_command(first_command, broken):
    record = falling_at(9.0, "", mode_after="")
    record.events.append(Event(1.0, "node", ("killed",)))
    one = np.zeros((1, 1))
    commands = Commands(np.array([first_command + 0.005]), one, one, np.array(["node"]), one[:, 0])
    found = promises.takeover.check(Record(record.declared, record.motion, commands, record.events), NOTHING)
    assert len(list(found)) == broken


@pytest.mark.parametrize(("place", "broken"), [(0.2, 1), (0.1, 0)])
@pytest.mark.parametrize("stiffness", [np.ones(1), None])
def test_servo_that_is_commanded_again_is_moved_no_farther_than_its_effort_may_change(place, broken, stiffness):
    """Its joint has moved by 0.5 rad meanwhile. An effort that a controller holds is compared with itself."""
    record = falling_at(9.0, "node")
    t, effort = np.array([1.99, 2.04]), np.array([[1.0], [0.5 if stiffness is not None else 1.0 + place]])
    data = np.array([[3.0], [3.0 + place]])
    commands = Commands(t, effort, data, np.full(2, "node"), np.zeros(2))
    declared = replace(record.declared, slew_rate=np.full(1, 2.0), servo_stiffness=stiffness)
    found = promises.slew_rate.check(replace(record, declared=declared, commands=commands), NOTHING)
    assert len(list(found)) == broken


@pytest.mark.parametrize(("change", "broken"), [(0.2, 1), (0.01, 0)])
def test_last_command_of_a_servo_that_is_under_way_when_the_node_falls_silent_is_none_after_a_pause(change, broken):
    """Its joint has moved by 0.4 rad since the command before."""
    record = falling_at(9.0, "node")
    data = np.array([[3.0], [3.4 + change]])
    commands = Commands(
        np.array([1.997, 2.005]), np.array([[1.0], [1.0 + change]]), data, np.full(2, "node"), np.zeros(2)
    )
    declared = replace(record.declared, slew_rate=np.full(1, 2.0), servo_stiffness=np.ones(1))
    found = promises.slew_rate.check(replace(record, declared=declared, commands=commands), NOTHING)
    assert len(list(found)) == broken


def moving(qd: np.ndarray, mode: np.ndarray, commander: np.ndarray | str = "node") -> Record:
    """Return a record of a joint of a speed, rad/s, every 10 ms; whose tip is 1 m away and may go 0.25 m/s."""
    record, t, none = falling_at(9.0, "node"), 0.01 * np.arange(len(qd)), np.zeros(len(qd))
    q, commander = np.cumsum(0.01 * qd)[:, None], np.broadcast_to(commander, len(qd))
    motion = Motion(t, q, qd[:, None], np.abs(qd), none, 0 * q, none, mode, commander)
    limits = {"max_tip_speed": 0.25, "slow_modes": ("gravity",), "max_velocity": np.ones(1)}
    return replace(record, motion=motion, declared=replace(record.declared, **limits))


@pytest.mark.parametrize(("amplitude", "broken"), [(0.25, 0), (1.0, 1)])
def test_tip_that_swings_is_no_slower_for_its_turning_points(amplitude, broken):
    qd = amplitude * np.sin(2 * np.pi * 8 * 0.01 * np.arange(100))
    record = moving(qd, np.full(100, "gravity"))
    assert len(list(promises.tip_speed.check(record, NOTHING))) == broken


def test_speeds_of_two_modes_are_not_one_that_lasts():
    qd, mode = np.full(21, 1.0), np.full(21, "gravity", dtype="<U7")
    qd[8:13], mode[8:13] = 0.0, "stopped"
    assert list(promises.tip_speed.check(moving(qd, mode), NOTHING)) == []


@pytest.mark.parametrize(("speed", "broken"), [(1.1, 0), (1.3, 1)])
def test_joint_in_a_mode_is_no_faster_than_the_share_of_its_limit_that_modes_have(speed, broken):
    record = moving(np.full(30, speed), np.full(30, "gravity"))
    assert len(list(promises.velocity_limit.check(record, NOTHING))) == broken
    assert list(promises.velocity_limit.check(moving(np.full(30, speed), np.full(30, "stopped")), NOTHING)) == []


@pytest.mark.parametrize(("frequency", "broken"), [(5.0, 0), (8.0, 1)])
def test_joint_that_swings_is_found_however_slow_it_is(frequency, broken):
    qd = 0.1 * np.sin(2 * np.pi * frequency * 0.01 * np.arange(300))
    assert len(list(promises.swings.check(moving(qd, np.full(300, "stopped")), NOTHING))) == broken


def test_arm_that_is_not_seen_goes_no_farther_and_is_found_at_rest_when_it_is_seen_again():
    t = 0.01 * np.arange(400)
    record = moving(np.where((t > 1.5) & (t < 2.0), 1.0, 0.0), np.where(t < 1.0, "gravity", "stopped"))
    record.events.extend([Event(1.2, "fault begins", ("noise",)), Event(2.5, "fault ends", ("noise",))])
    unseen, during = Disturbances(unseen=("noise",)), Disturbances(("noise",))
    assert list(promises.rest(0.1).check(record, unseen)) == list(promises.rest(0.1).check(record, during)) == []
    for check in (promises.travel.check, promises.stopped_speed.check):
        assert len(list(check(record, unseen))) == 1
        assert len(list(check(record, during))) == 0


@pytest.mark.parametrize(
    ("before", "blind", "after", "broken"),
    [(1.0, 1.0, 0.0, 0), (0.5, 1.0, 0.0, 1), (0.0, 0.5, 0.0, 1), (1.0, 1.0, 1.0, 1)],
    ids=["goes on", "speeds up", "moves off", "is not braked"],
)
def test_arm_goes_on_with_its_speed_without_states_and_no_farther(before, blind, after, broken):
    """Nothing brakes an arm that is not seen, which stops because of that."""
    t = 0.01 * np.arange(400)
    unseen = (t >= 1.0) & (t < 2.0)
    record = moving(
        np.select([t < 1.0, unseen, t < 2.5], [before, blind, after]), np.where(t < 1.0, "gravity", "stopped")
    )
    declared = replace(record.declared, state_timeout=0.1)
    record = replace(record, declared=declared, motion=replace(record.motion, silence=np.where(unseen, 1.0, 0.0)))
    assert len(list(promises.travel.check(record, NOTHING))) == broken


@pytest.mark.parametrize(("before", "broken"), [(0.0, 1), (1.0, 0)])
def test_stopped_arm_that_was_slow_stays_slow_and_a_fast_one_is_braked(before, broken):
    t = 0.01 * np.arange(300)
    qd = np.where((t < 1.2) & (before > 0), before, np.where((t > 2.0) & (t < 2.3) & (before == 0), 1.0, 0.0))
    record = moving(qd, np.where(t < 1.0, "gravity", "stopped"))
    assert len(list(promises.stopped_speed.check(record, NOTHING))) == broken


@pytest.mark.parametrize(("called_after", "broken"), [(0.1, 0), (0.4, 1)])
def test_brakes_are_called_soon_where_a_stop_speeds_the_arm_up(called_after, broken):
    t = 0.01 * np.arange(200)
    commander = np.where(t < 1.0 + called_after, "node", "brakes")
    record = moving(np.where(t > 1.0, 2.0, 0.5), np.where(t < 1.0, "gravity", "stopped"), commander)
    record.events.extend([Event(0.5, "fault begins", ("joint sign",))])
    assert len(list(promises.speeding.check(record, Disturbances(("joint sign",))))) == broken


@pytest.mark.parametrize(("commander", "broken"), [("node", 1), ("failsafe", 1), ("", 0)])
def test_nobody_calls_brakes_of_an_arm_that_is_commanded_no_more(commander, broken):
    """The load that its last effort carried is lost after it was left at rest."""
    t = 0.01 * np.arange(300)
    mode = np.where(t < 1.0, "gravity", "monitor")
    record = moving(np.where(t > 1.5, 2.0, 0.0), mode, np.where(t < 1.3, "node", commander))
    assert len(list(promises.speeding.check(record, NOTHING))) == broken


@pytest.mark.parametrize(
    ("begin", "end", "speed", "broken"),
    [(0.0, 1.5, 0.1, 0), (0.0, 1.8, 0.1, 1), (0.0, 3.0, 0.02, 1), (1.7, 1.72, 0.1, 0), (1.98, 3.0, 0.1, 1)],
    ids=["rests", "moves", "creeps", "is bumped, and rests", "moves at the end"],
)
@pytest.mark.parametrize("commander", ["node", "failsafe"])
def test_commands_end_where_the_arm_has_rested(begin, end, speed, broken, commander):
    t = 0.01 * np.arange(300)
    mode = np.where(t < 2.0, "stopped", "monitor") if commander == "node" else np.full(300, "")
    record = moving(np.where((t >= begin) & (t < end), speed, 0.0), mode, np.where(t < 2.0, commander, ""))
    assert bool(list(promises.left_at_rest.check(record, NOTHING))) == broken


@pytest.mark.parametrize("mode", ["gravity", "stopped"])
def test_failsafe_process_takes_over_from_a_node_that_commands_in_whatever_mode(mode):
    record = moving(np.zeros(300), np.where(0.01 * np.arange(300) < 1.0, mode, ""))
    one = np.zeros((1, 1))
    record = replace(record, commands=Commands(np.array([0.99]), one, one, np.array(["node"]), one[:, 0]))
    record.events.append(Event(1.0, "node", ("killed",)))
    assert len(list(promises.takeover.check(record, NOTHING))) == 1


def test_what_promises_are_measured_by_is_not_what_the_node_makes_of_its_parameters():
    assert "ros2_dyn.runtime.command_interface" not in imports(ROOM / "world_options.py")


@pytest.mark.parametrize("family", FAMILIES)
def test_worlds_of_each_family_keep_their_promises(family):
    for seed, faults in world_seeds(1, 20 if FULL else 3, family):
        assert play_world(seed, faults, family=family).broken == []


@pytest.mark.parametrize("name", MUTATIONS if FULL else QUICK)
def test_deliberate_fault_in_the_code_is_found(name):
    quickly = None if FULL else faults_until_found(name, QUICK[name], 3)
    assert quickly or faults_until_found(name, 1, FAULTS)
