# SPDX-License-Identifier: Apache-2.0
"""`make bench-failsafe`: node killed, stopped, terminated with its group and starved, in each mode, in real time.

What the mock arm does afterwards is measured: its speed a second later and the distance it travels.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from geometry_msgs.msg import Vector3, WrenchStamped
from rclpy.qos import qos_profile_sensor_data
from ros2_dyn_interfaces.srv import LeadHand, SetMode, SwitchController
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from robots import HOME
from ros2_dyn.control.modes import MODES
from ros2_dyn.ros.node_base import LATCHED
from ros_harness import PATIENCE, Listener, Process, failsafe_of, words
from shared_fixtures import random_domain

NAMES = [f"{name}_joint" for name in ("shoulder_pan", "shoulder_lift", "elbow", "wrist_1", "wrist_2", "wrist_3")]
ROTORS, FRICTION = [0.5, 0.5, 0.4, 0.1, 0.1, 0.1], [3.0, 3.0, 3.0, 0.6, 0.6, 0.6]
"""Of the arm, as the node knows them: friction of 2 % of the effort limits, less than recordings of real arms show."""
GAINS = {
    "feed_forward.stiffness": [460.0, 640.0, 250.0, 26.0, 23.0, 22.0],
    "feed_forward.damping": [61.0, 85.0, 33.0, 3.5, 3.1, 3.0],
}
COMMANDS = "/effort_controller/commands"
ATTEMPTS = 10
"""Number of times that a trial is begun."""
STATE_TIMEOUT = 0.3
"""Of the node, s: the processes share a machine with the tests."""
REST, TRAVEL = 0.05, 0.3
"""What an arm does after a stop at most: speed of each joint after 1 s, rad/s, and distance of each joint, rad."""
WATCHED = 2.0
"""Time for which the arm is watched, s. A hand does not let go when the node fails: the time counts from then on."""
STARVED = 1.0
"""Time for which a node gets the processor only now and then, s."""


class Trial(NamedTuple):
    """What the arm did."""

    speed: float
    """Largest speed of a joint, rad/s."""
    speed_after: float
    """Largest speed of a joint a second later, where a hand led the arm a second after it let go, and from then on,
    rad/s."""
    travel: float
    """Largest distance of a joint from where it was, rad."""


class Held(Exception):
    """The machine was too busy for the mode to go on until the fault."""


class Rig:
    """The mock arm in real time, a node that commands it, and what publishes its targets."""

    def __init__(self) -> None:
        os.environ["ROS_DOMAIN_ID"] = random_domain()
        self.listener = Listener()
        arm = words(
            home=HOME,
            controller="trajectory_controller",
            publish_rate=250.0,
            armature=ROTORS,
            coulomb_friction=FRICTION,
        )
        node = words(
            **{
                "robot.joints": NAMES,
                "states.timeout": STATE_TIMEOUT,
                "commands.target_timeout": 0.5,
                "robot.armature": ROTORS,
                "friction.coulomb": FRICTION,
            },
            **GAINS,
        )
        self.arm = Process("ros2_dyn.ros.mock_arm_node", *arm)
        self.node = Process("ros2_dyn.ros.dynamics_node", *node, "-r", f"~/command:={COMMANDS}")
        self.states: list[tuple[float, np.ndarray, np.ndarray]] = []
        self.modes: list[str] = []
        self.moves = False
        self._touched_at = 0.0
        node = self.listener.node
        self._desired = node.create_publisher(JointTrajectory, "dynamics/desired", 10)
        self._wrench = node.create_publisher(WrenchStamped, "dynamics/desired_wrench", 10)
        self._enable = node.create_publisher(Bool, "dynamics/enable", 1)
        node.create_subscription(JointState, "joint_states", self._on_state, qos_profile_sensor_data)
        node.create_subscription(WrenchStamped, "mock_arm/contact_wrench", self._on_contact, qos_profile_sensor_data)
        node.create_subscription(String, "dynamics/mode", lambda m: self.modes.append(m.data), LATCHED)

    def close(self) -> None:
        """End all."""
        self.node.kill()
        self.arm.kill()
        self.listener.close()

    def _on_state(self, message: JointState) -> None:
        now = time.monotonic()
        self.states.append((now, np.array(message.position), np.array(message.velocity)))
        swing = 0.2 * np.sin(2.0 * now) if self.moves else 0.0
        rate = 0.4 * np.cos(2.0 * now) if self.moves else 0.0
        point = JointTrajectoryPoint(positions=(np.array(HOME) + swing).tolist(), velocities=[rate] * 6)
        point.accelerations = [0.0] * 6
        desired = JointTrajectory(joint_names=NAMES, points=[point])
        desired.header.stamp = message.header.stamp
        self._desired.publish(desired)
        wrench = WrenchStamped()
        wrench.header.stamp = message.header.stamp
        wrench.wrench.force.z = 5.0 if self.moves else 0.0
        self._wrench.publish(wrench)
        self._enable.publish(Bool(data=True))

    def _on_contact(self, message: WrenchStamped) -> None:
        force = message.wrench.force
        if any((force.x, force.y, force.z)):
            self._touched_at = time.monotonic()

    def enter(self, mode: str) -> None:
        """Let the node command in a mode, and the arm move."""
        listener = self.listener
        listener.until(lambda: len(self.states) > 50 and self.modes, "no states")
        self._ask("gravity")
        request = {"controller": SwitchController.Request.EFFORT}
        assert listener.call(SwitchController, "mock_arm/switch_controller", **request).success
        self._ask(mode)
        if mode in ("gravity", "hand_guiding"):
            lead = Vector3(x=0.0, y=0.2, z=0.1)
            response = listener.call(LeadHand, "mock_arm/lead_hand", link="tool0", displacement=lead, duration=1.5)
            assert response.success, response.message
        self.moves = True
        listener.spin(0.7)
        if self.modes[-1] != mode:
            raise Held(self.node.printed)

    def _ask(self, mode: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while not (response := self.listener.call(SetMode, "dynamics/set_mode", mode=mode)).success:
            assert time.monotonic() < deadline, response.message
            self.listener.spin(0.1)

    def watch(self, begin: float) -> Trial:
        """Return what the arm does from a time on, s."""
        while time.monotonic() < (alone_at := max(begin, self._touched_at)) + WATCHED:
            self.listener.spin(0.1)
        seen = [state for state in self.states if state[0] >= begin]
        q0 = seen[0][1]
        speeds = [(t, float(np.max(np.abs(qd)))) for t, _, qd in seen]
        return Trial(
            max(speed for _, speed in speeds),
            max(speed for t, speed in speeds if t > alone_at + 1.0),
            max(float(np.max(np.abs(q - q0))) for _, q, _ in seen),
        )


def killed(rig: Rig) -> None:
    """SIGKILL."""
    rig.node.kill()


def stopped(rig: Rig) -> None:
    """SIGSTOP."""
    os.kill(rig.node.process.pid, signal.SIGSTOP)


def terminated(rig: Rig) -> None:
    """SIGTERM to both processes, as a service manager ends a group."""
    for process in (failsafe_of(rig.node.process.pid), rig.node.process.pid):
        os.kill(process, signal.SIGTERM)


def starved(rig: Rig) -> None:
    """The node gets the processor for 10 ms of each 250 ms."""
    end = time.monotonic() + STARVED
    while time.monotonic() < end:
        os.kill(rig.node.process.pid, signal.SIGSTOP)
        rig.listener.spin(0.24)
        os.kill(rig.node.process.pid, signal.SIGCONT)
        rig.listener.spin(0.01)


FAULTS: dict[str, Callable[[Rig], None]] = {each.__name__: each for each in (killed, stopped, terminated, starved)}


def play(mode: str, fault: str) -> Trial:
    """Return what the arm does after a fault in a mode."""
    for attempt in range(ATTEMPTS):
        rig = Rig()
        try:
            rig.enter(mode)
            begin = time.monotonic()
            FAULTS[fault](rig)
            rig.moves = False
            trial = rig.watch(begin)
            if trial.travel > TRAVEL or trial.speed_after > REST:
                print(rig.node.printed, file=sys.stderr)
            return trial
        except Held:
            if attempt == ATTEMPTS - 1:
                raise
        finally:
            rig.close()
    raise AssertionError


def main(arguments: list[str]) -> int:
    """Play trials; print a line for each, and the worst of each kind as JSON at the end."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=20, help="number of trials of each kind (default 20)")
    parser.add_argument("--modes", nargs="*", default=list(MODES), help="the modes (default all)")
    parser.add_argument("--faults", nargs="*", default=list(FAULTS), help="the faults (default all)")
    chosen = parser.parse_args(arguments)
    worst: dict[str, Any] = {}
    for mode in chosen.modes:
        for fault in chosen.faults:
            trials = []
            for number in range(chosen.trials):
                trials.append(play(mode, fault))
                print(mode, fault, number, *(f"{name} {x:.4f}" for name, x in trials[-1]._asdict().items()), flush=True)
            worst[f"{mode}, {fault}"] = {name: max(getattr(t, name) for t in trials) for name in Trial._fields}
    print(json.dumps(worst, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
