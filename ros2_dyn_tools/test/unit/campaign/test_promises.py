# SPDX-License-Identifier: Apache-2.0
"""The promises: independent of the code that keeps them, broken by deliberate faults, and kept without any."""

from dataclasses import replace

import numpy as np
import pytest

from mutations import MUTATIONS, faults_until_found
from rooms import TOP, imports
from ros2_dyn_tools.campaign import promises
from ros2_dyn_tools.campaign.families import FAMILIES, NOTHING
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


@pytest.mark.parametrize("module", ["promises", "broken", "record"])
def test_promises_import_nothing_of_the_code_that_keeps_them(module):
    rooms = {name.split(".")[1] for name in imports(ROOM / f"{module}.py") if name.startswith("ros2_dyn.")}
    assert rooms <= {"model"}
    own = {name.split(".")[2] for name in imports(ROOM / f"{module}.py") if name.startswith("ros2_dyn_tools.campaign.")}
    assert own <= {"record", "broken"}


def test_families_share_all_worlds_and_name_faults_once():
    assert sum(family.share for family in FAMILIES.values()) == pytest.approx(1.0)
    assert all(len(set(family.faults)) == len(family.faults) for family in FAMILIES.values())
    for family in FAMILIES.values():
        assert {*family.disturbing.during, *family.disturbing.changes} <= set(family.faults)


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


@pytest.mark.parametrize("family", FAMILIES)
def test_worlds_of_each_family_keep_their_promises(family):
    for seed, faults in world_seeds(1, 20 if FULL else 3, family):
        assert play_world(seed, faults, family=family).broken == []


@pytest.mark.parametrize("name", MUTATIONS if FULL else QUICK)
def test_deliberate_fault_in_the_code_is_found(name):
    quickly = None if FULL else faults_until_found(name, QUICK[name], 3)
    assert quickly or faults_until_found(name, 1, FAULTS)
