# SPDX-License-Identifier: Apache-2.0
"""A simulation slower and faster than real time, through real processes, commanded in every mode."""

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not here")

from geometry_msgs.msg import WrenchStamped
from rclpy.qos import qos_profile_sensor_data
from ros2_dyn_interfaces.srv import SetMode, TakeOver
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, Float64MultiArray, String
from trajectory_msgs.msg import JointTrajectory

from driven_arms import HOME
from driver import NAMES, force, resting_at_home
from ros2_dyn.control.modes import MODES
from ros2_dyn.ros.node_base import LATCHED
from ros_harness import Listener, Process, words
from tiers import part

STATES = 6
"""States for which each mode is to command at each pace."""
FRICTION = {
    "robot.armature": [0.5, 0.5, 0.4, 0.1, 0.1, 0.1],
    "friction.viscous": [5.0, 5.0, 4.0, 1.0, 1.0, 1.0],
    "friction.coulomb": [12.0, 12.0, 9.0, 2.4, 2.4, 2.4],
}
OF_THE_ARM = {
    "robot.armature": "armature",
    "friction.viscous": "viscous_friction",
    "friction.coulomb": "coulomb_friction",
}
"""Names that the simulated arm has for them."""


class SimulatedController:
    """A test's part of a simulation: it gives targets at each state's stamp, and keeps commands and modes."""

    def __init__(self, listener: Listener) -> None:
        self.listener = listener
        self.stamps: list[int] = []
        self.commands = listener.listen("effort_controller/commands", type=Float64MultiArray)
        self.modes = listener.listen("dynamics/mode", type=String, qos=LATCHED)
        self._desired = listener.node.create_publisher(JointTrajectory, "dynamics/desired", 10)
        self._wrenches = listener.node.create_publisher(WrenchStamped, "dynamics/desired_wrench", 10)
        self._enable = listener.node.create_publisher(Bool, "dynamics/enable", 1)
        listener.node.create_subscription(JointState, "joint_states", self._on_state, qos_profile_sensor_data)

    def _on_state(self, state: JointState) -> None:
        self.stamps.append(state.header.stamp.sec * 10**9 + state.header.stamp.nanosec)
        desired = JointTrajectory(header=state.header, joint_names=NAMES, points=[resting_at_home()])
        self._enable.publish(Bool(data=True))
        self._desired.publish(desired)
        wrench = force(z=5.0)
        wrench.header.stamp = state.header.stamp
        self._wrenches.publish(wrench)

    def states(self, count: int) -> None:
        """Wait for a number of states."""
        end = len(self.stamps) + count
        self.listener.until(lambda: len(self.stamps) >= end, "the simulation stands still")

    def enter(self, mode: str) -> None:
        """Enter a mode; targets may need a moment."""
        answer = self.listener.call(SetMode, "dynamics/set_mode", mode=mode)
        assert answer.success, answer.message
        self.listener.until(lambda: self.modes[-1].data == mode, f"mode {mode} is not published")


@pytest.mark.parametrize("pace", part([0.1, 5.0], 0))
def test_simulation_at_any_pace_is_commanded_in_every_mode(listener, pace):
    """Ages and time-outs are of the simulation's clock: at a tenth of real time a tick of 4 ms takes 40 ms.

    At five times real time 0.1 s would be 20 ms of the machine, for which it may well be busy with something else.
    """
    arm = Process(
        "ros2_dyn.ros.mock_arm_node",
        *words(publish_clock=True, pace=pace, lockstep=True, controller="effort_controller", home=HOME.tolist()),
        *words(**{OF_THE_ARM[name]: values for name, values in FRICTION.items()}),
    )
    node = Process(
        "ros2_dyn.ros.dynamics_node",
        *("-r", "~/command:=/effort_controller/commands"),
        *words(
            use_sim_time=True,
            **{
                "robot.joints": NAMES,
                "commands.ramp_time": 0.02,
                "friction.transition_velocity": 0.05,
            },
        ),
        *words(**{"states.timeout": max(0.1, pace)}),
        *words(**{"feed_forward.stiffness": [200.0] * 6, "feed_forward.damping": [20.0] * 6}, **FRICTION),
    )
    try:
        simulated = SimulatedController(listener)
        gravities = listener.listen("dynamics/gravity")
        listener.until(lambda: len(gravities) > 20, "no states")
        refusal = listener.call(TakeOver, "dynamics/take_over").message
        assert "there is no service /controller_manager/switch_controller: remap" in refusal
        for mode in MODES:
            simulated.enter(mode)
            before = len(simulated.commands)
            simulated.states(STATES)
            assert simulated.modes[-1].data == mode, node.printed
            listener.until(lambda before=before: len(simulated.commands) - before >= STATES - 2, "few commands")
    finally:
        printed = node.stop(), arm.stop()
    assert "Traceback" not in printed[0] + printed[1]
    assert "commands end" not in printed[0]
