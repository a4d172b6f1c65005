# SPDX-License-Identifier: Apache-2.0
"""Where the robot comes from: parameters, files, and the topic robot_description, also while states come."""

import numpy as np
import pytest
import yaml
from numpy.testing import assert_allclose

from robots import joint, link, robot

pytest.importorskip("rclpy", reason="ROS 2 is not here")

from ros2_dyn_interfaces.srv import GetDynamics
from sensor_msgs.msg import JointState
from std_msgs.msg import UInt8MultiArray

from driven_arms import HOME, MODEL, StandingArm
from driver import NAMES, URDF, Driver
from ros2_dyn.dynamics import gravity
from ros2_dyn.kernels.tape import Tape, description_hash
from ros2_dyn.model import RobotModel
from ros2_dyn.ros.node_base import LATCHED
from ros_harness import words

STATE = JointState(name=NAMES, position=HOME)
VISCOUS = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
LEANING = [2.0, 0.0, -9.6]


def test_description_on_the_topic_is_used_and_a_wrong_one_is_not(listener, start):
    """It may have been published before the node began; the robot before stays until the next is ready.

    The tape is that of the newest description and the parameters, made as soon as somebody subscribes.
    """
    driver = Driver(listener)
    driver.describe()
    mount = {"robot.gravity": LEANING, "robot.tip_link": "wrist_3_link"}
    parameters = words(**{"robot.joints": NAMES, "friction.viscous": VISCOUS} | mount)
    driver.process = start("ros2_dyn.ros.dynamics_node", *parameters)
    tapes = listener.listen("dynamics/tape", type=UInt8MultiArray, qos=LATCHED)
    driver.begin()
    driver.step()
    assert_allclose(driver.answers[-1].effort, gravity(MODEL, HOME, LEANING), rtol=0, atol=1e-10)
    listener.until(lambda: tapes, "there is no tape")
    tape, qd = Tape.from_bytes(bytes(tapes[-1].data)), np.array([0.1, -0.2, 0.3, -0.4, 0.5, -0.6])
    assert (tape.description, tape.link) == (description_hash(URDF), "wrist_3_link")
    assert_allclose(tape.evaluate(q=HOME)["gravity"], gravity(MODEL, HOME, LEANING), rtol=0, atol=1e-10)
    assert_allclose(tape.evaluate(q=HOME, qd=qd)["friction"], np.array(VISCOUS) * qd, rtol=0, atol=1e-10)
    floating = robot(link("a"), link("b", 1.0), joint("free", "floating", "a", "b"))
    driver.describe(floating)
    driver.until(lambda: "robot_description rejected" in driver.process.printed, "it is not rejected")
    driver.step()
    assert_allclose(driver.answers[-1].effort, gravity(MODEL, HOME, LEANING), rtol=0, atol=1e-10)
    assert "'mock_arm' is kept" in driver.process.printed
    heavier = URDF.replace('<mass value="3.7"/>', '<mass value="5.7"/>')
    assert heavier != URDF
    driver.describe(heavier)
    expected = gravity(RobotModel.from_urdf(heavier), HOME, LEANING)
    driver.until(lambda: np.allclose(driver.answers[-1].effort, expected, rtol=0, atol=1e-10), "the old robot stays")
    listener.until(lambda: len(tapes) > 1, "there is no second tape")
    tape = Tape.from_bytes(bytes(tapes[-1].data))
    assert tape.description == description_hash(heavier)
    assert_allclose(tape.evaluate(q=HOME)["gravity"], expected, rtol=0, atol=1e-10)
    driver.close()


WAITING_COMPILER = """#!/bin/sh
case "$*" in *--version*) exit;; esac
touch {folder}/begun
while [ ! -e {folder}/go ]; do sleep 0.05; done
exec cc "$@"
"""


def test_node_commands_before_a_compiler_is_done_and_goes_over_to_what_it_made(listener, tmp_path, monkeypatch):
    """Of a robot that nobody has compiled here before."""
    compiler, cache = tmp_path / "compiler", tmp_path / "cache"
    compiler.write_text(WAITING_COMPILER.format(folder=tmp_path))
    compiler.chmod(0o700)
    for name, value in {"CC": str(compiler), "CFLAGS": "-O0", "ROS2_DYN_CACHE": str(cache)}.items():
        monkeypatch.setenv(name, value)
    driver = Driver.of(listener, StandingArm(speed=0.0))
    driver.until((tmp_path / "begun").exists, "nothing is compiled")
    assert driver.set_mode("gravity").success
    waiting = driver.play(10)
    (tmp_path / "go").touch()
    driver.until(lambda: list(cache.glob("kernel_*.so")), "the compiler does not get on")
    assert_allclose(driver.play(10)[-1], waiting[-1], rtol=0, atol=1e-10)
    driver.close()


def test_description_as_a_parameter_of_a_part_of_a_robot(listener, start, tmp_path):
    """As text, as launch files give it. The joints that `robot.joints` leaves out are locked."""
    file, arm = tmp_path / "parameters.yaml", NAMES[:3]
    values = {"robot_description": URDF, "robot": {"joints": arm[::-1]}}
    file.write_text(yaml.safe_dump({"/**/dynamics": {"ros__parameters": values}}))
    start("ros2_dyn.ros.dynamics_node", "--params-file", str(file))
    state = JointState(name=arm, position=HOME[:3])
    answer = listener.call(GetDynamics, "dynamics/get_dynamics", state=state)
    assert list(answer.joint_names) == arm
    assert_allclose(answer.gravity, gravity(MODEL.reduced(arm), HOME[:3]), rtol=0, atol=1e-10)


def test_xacro_file_is_expanded(listener, start, tmp_path):
    """A broken one ends the node with one line."""
    pytest.importorskip("xacro", reason="xacro is not installed")
    text = URDF.replace("<robot ", '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" ', 1)
    good, bad = tmp_path / "arm.urdf.xacro", tmp_path / "bad.urdf.xacro"
    good.write_text(text, encoding="utf-8")
    bad.write_text('<robot name="x" xmlns:xacro="http://www.ros.org/wiki/xacro"><link name="${no}"/></robot>')
    start("ros2_dyn.ros.dynamics_node", "-p", f"urdf_file:={good}")
    broken = start("ros2_dyn.ros.dynamics_node", "-p", f"urdf_file:={bad}")
    answer = listener.call(GetDynamics, "dynamics/get_dynamics", state=STATE)
    assert_allclose(answer.gravity, gravity(MODEL, HOME), rtol=0, atol=1e-10)
    assert "xacro cannot expand it" in broken.ended()
    assert broken.process.returncode == 1
