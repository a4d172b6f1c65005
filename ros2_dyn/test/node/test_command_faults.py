"""Faults while the node commands an arm, at random moments: whatever happens, no command leaves that must not.

Each fault happens once in each mode; ROS2_DYN_REPEATS=100 makes it a hundred times, and ROS2_DYN_COUNTS=FILE writes
what was counted as JSON.
"""

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not here")

from rclpy.subscription import Subscription
from ros2_dyn.control.effort_guard import COMMANDING
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from command_rig import NAMES, STATE_TIMEOUT, URDF, VIOLATIONS, CommandRig
from ros_harness import Listener

REPEATS = int(os.environ.get("ROS2_DYN_REPEATS", "1"))
COUNTS = os.environ.get("ROS2_DYN_COUNTS", "")
NAN = float("nan")
if not hasattr(Subscription, "CallbackType"):
    pytest.skip("the rclpy of Humble does not say when a message was published", allow_module_level=True)
rng = np.random.default_rng(6)


@pytest.fixture(scope="module")
def rig(request, tmp_path_factory) -> Iterator[CommandRig]:
    """One arm and one node, that go through all faults; param: whether by simulated time."""
    listener = Listener()
    rig = CommandRig(listener, tmp_path_factory.mktemp("rig"), request.param)
    yield rig
    try:
        printed = rig.close()
    finally:
        listener.close()
    assert "Traceback" not in printed, printed


def restored(rig: CommandRig) -> None:
    """Nothing is wrong any more."""
    rig.change, rig.targets = lambda state: state, True
    rig.offset_clock = rig.offset_stamps = 0


def states_stop(rig: CommandRig, mode: str) -> None:
    """For longer than the timeout, or for less."""
    rig.change = lambda state: None
    rig.spin(rng.choice([0.03, 0.08, 0.25]))


def state_freezes(rig: CommandRig, mode: str) -> None:
    """The same numbers again and again, with new stamps or without."""
    first: list[JointState] = []
    restamps = rng.random() < 0.7

    def frozen(state: JointState) -> JointState:
        first.append(state)
        if len(first) == 1:
            return state
        same = JointState(header=state.header if restamps else first[0].header, name=state.name)
        same.position, same.velocity, same.effort = first[0].position, first[0].velocity, first[0].effort
        return same

    rig.change = frozen
    rig.spin(0.25)


def not_a_number(rig: CommandRig, mode: str) -> None:
    """In the positions or the velocities, of one joint or of all."""
    field, joint = rng.choice(["position", "velocity"]), rng.integers(7)

    def broken(state: JointState) -> JointState:
        values = [NAN if joint in (i, 6) else x for i, x in enumerate(getattr(state, field))]
        message = JointState(header=state.header, name=state.name, effort=state.effort)
        message.position, message.velocity = state.position, state.velocity
        setattr(message, field, values)
        return message

    rig.change = broken
    rig.spin(0.25)


def target_stops(rig: CommandRig, mode: str) -> None:
    """Modes that follow one stop."""
    rig.targets = False
    rig.spin(0.25)
    if mode in ("feed_forward", "force"):
        rig.until(lambda: rig.mode in ("stopped", "monitor"), "it goes on without a target")


def node_killed(rig: CommandRig, mode: str) -> None:
    """Its last will passes to the safe effort; a new one begins in monitor."""
    rig.until(rig.knows_last_will, "no last will")
    rig.spin(rng.uniform(0.0, 0.05))
    killed_at = time.time_ns()
    rig.node.kill()
    rig.spin(0.16)
    # a node that was held up leaves a state on which nobody may say anything
    rig.unheard += rig.commanded_at < killed_at and 1e-9 * (killed_at - rig.state_at) < STATE_TIMEOUT / 2
    rig.start_node()
    rig.spin(0.3)


def arm_killed(rig: CommandRig, mode: str) -> None:
    """And started again, at home."""
    rig.arm.kill()
    rig.spin(0.2)
    rig.start_arm()
    rig.spin(0.5)


def mode_toggled(rig: CommandRig, mode: str) -> None:
    """At 50 Hz, between this and another one."""
    other = rng.choice([each for each in ("monitor", *COMMANDING) if each != mode])
    asked = []
    for i in range(20):
        asked.append(rig.request((other, mode)[i % 2]))
        rig.spin(0.02)
    rig.until(lambda: all(future.done() for future in asked[-5:]), "no answers")


def clock_jumps(rig: CommandRig, mode: str) -> None:
    """The node's clock, the driver's, or both, there and back."""
    jump = int(rng.choice([-1, 1]) * 10 ** rng.uniform(7.5, 12.5))
    which = rng.integers(3)
    rig.offset_clock, rig.offset_stamps = (0 if which == 1 else jump), (0 if which == 0 else jump)
    rig.spin(0.25)


def new_description(rig: CommandRig, mode: str) -> None:
    """Another load, another name, none at all; and the first again."""
    heavier = URDF.replace('<mass value="8.393"/>', f'<mass value="{rng.uniform(6, 11):.3f}"/>')
    weaker = URDF.replace('effort="150"', 'effort="140"')
    for xml in (rng.choice([heavier, weaker, URDF.replace(NAMES[5], "last_joint"), "<robot"]), URDF):
        rig.descriptions.publish(String(data=str(xml)))
        rig.spin(0.25)


FAULTS = {
    "state stream stops": states_stop,
    "state freezes": state_freezes,
    "NaN": not_a_number,
    "target stops": target_stops,
    "mode toggled at 50 Hz": mode_toggled,
    "new URDF": new_description,
    "clock jump": clock_jumps,
    "arm process killed": arm_killed,
    "node killed": node_killed,
}


@pytest.mark.parametrize("mode", ["monitor", *COMMANDING])
@pytest.mark.parametrize(("rig", "fault"), [(fault == "clock jump", fault) for fault in FAULTS], indirect=["rig"])
def test_no_command_leaves_that_must_not(rig, fault, mode):
    """Above the limit, not finite, a step above the slew limit, on a stale state: none; in monitor none at all."""
    rig.enter(mode)
    rig.spin(0.5)
    rig.counts.clear()
    rig.examples.clear()
    before, rig.lost, rig.too_early, rig.unheard = rig.commands, 0, 0, 0
    for _ in range(REPEATS):
        rig.enter(mode)
        rig.spin(rng.uniform(0.05, 0.35))
        rig.too_early += rig.mode != mode
        try:
            FAULTS[fault](rig, mode)
        finally:
            restored(rig)
        rig.spin(0.05)
    counted = {kind: rig.counts[kind] for kind in VIOLATIONS}
    if COUNTS:
        with Path(COUNTS).open("a", encoding="utf-8") as file:
            row = {"fault": fault, "mode": mode, "times": REPEATS, "commands": rig.commands - before}
            row |= {"lost on the way": rig.lost, "not in the mode": rig.too_early}
            row |= {"last will not heard": rig.unheard, **counted}
            file.write(json.dumps(row) + "\n")
    assert not rig.counts, "\n".join(rig.examples[:5])
    if mode == "monitor":
        assert fault == "mode toggled at 50 Hz" or rig.commands == before
    else:
        assert rig.commands - before >= REPEATS  # it did command
    assert rig.too_early <= max(1, REPEATS / 5)
    assert rig.unheard <= max(1, REPEATS / 20)  # a busy machine may take 0.1 s to end a process; its state is old then
