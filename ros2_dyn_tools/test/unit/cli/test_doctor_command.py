# SPDX-License-Identifier: Apache-2.0
"""`ros2_dyn doctor`, on CSV files."""

import json
from pathlib import Path

import numpy as np
import pytest
import yaml
from rich.console import Console

from recordings import synthetic_recording
from robots import MOCK_ARM, example_robots, joint, link, mock_arm
from ros2_dyn.cli.main import main
from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.runtime.settings import Settings
from ros2_dyn_tools.cli.doctor import show
from ros2_dyn_tools.cli.recorded_arm import joints_in_recording, recorded_arm
from ros2_dyn_tools.doctor import Diagnosis, Note, Report
from ros2_dyn_tools.doctor.hypothesis import Hypothesis
from ros2_dyn_tools.identification.parameter_output import write_parameter_file
from wrong_recordings import Wrong, wrong_recording

pytest.importorskip("scipy", reason="SciPy is not installed")
MODEL = mock_arm()
RECORDED = MODEL.reduced(MODEL.joint_names[:3])
"""What a few recordings are of."""
TURNED = wrong_recording(RECORDED, synthetic_recording(RECORDED, 3, seconds=15.0, rate=50.0), Wrong(signs=(1,)))


def write_csv(path: Path, recording, names) -> Path:
    header = ["time", *(f"{name}.{field}" for field in ("position", "effort") for name in names)]
    rows = np.column_stack([recording.t, recording.q, recording.effort])
    np.savetxt(path, rows, delimiter=",", header=",".join(header), comments="")
    return path


def test_findings_are_printed_as_json(tmp_path, capsys):
    path = write_csv(tmp_path / "a.csv", TURNED, [f"left_{name}" for name in RECORDED.joint_names])
    assert main(["doctor", str(MOCK_ARM), str(path), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    (finding,) = report["findings"]
    joint = MODEL.joint_names[1]
    assert (finding["code"], finding["joint"], finding["value"]) == ("sign", joint, -1.0)
    assert 0.9 < finding["confidence"] < 1.0
    assert {each["subject"] for each in report["notes"]} == {"length", "velocity", "joints", "friction", "remains"}
    noted = [each["text"] for each in report["notes"] if each["subject"] in ("joints", "friction")]
    values = yaml.safe_load("\n".join([finding["remedy"], *noted]))
    Settings.from_values(values)  # what the node takes, by its names
    assert {type(x) for x in values["friction.viscous"]} == {float}, "ROS 2 refuses a list of floats and integers"


def test_gains_of_a_parameter_file_are_part_of_the_line_that_mends(tmp_path, capsys):
    gains = np.array([10.0, 1.0, 1.0])
    recording = TURNED._replace(effort=TURNED.effort / gains)
    path = write_csv(tmp_path / "a.csv", recording, RECORDED.joint_names)
    values = {"robot.joints": list(RECORDED.joint_names), "states.effort_gain": gains.tolist()}
    write_parameter_file(tmp_path / "arm.yaml", values, "known before")
    assert main(["doctor", str(MOCK_ARM), str(path), "--parameters", str(tmp_path / "arm.yaml"), "--json"]) == 0
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert (finding["code"], finding["joint"]) == ("sign", MODEL.joint_names[1])
    assert finding["remedy"] == "states.effort_gain: [10.0, -1.0, 1.0]"


def test_report_as_text_has_codes_confidence_and_remedies(capsys):
    sign = Diagnosis("sign", "elbow_joint", -1.0, 0.99, "evidence 200", "effort_gain: [1, -1]")
    other = sign._replace(joint="wrist_joint")
    right = Hypothesis.nothing_wrong(2)
    show(Report([sign, other], [Note("remains", "elbow_joint", "0.3 N m [RMS]")], right), Console(soft_wrap=True))
    printed = capsys.readouterr().out
    assert "sign elbow_joint (confidence 0.99): evidence 200" in printed
    assert printed.count("effort_gain: [1, -1]") == 1
    assert "0.3 N m [RMS]" in printed


def test_bad_input_is_one_line_and_fails(tmp_path, capsys):
    assert main(["doctor", str(MOCK_ARM), str(tmp_path / "none.csv")]) == 1
    assert "there is no" in capsys.readouterr().err
    other = write_csv(tmp_path / "b.csv", synthetic_recording(MODEL, 3, seconds=1.0), [f"x{i}y" for i in range(6)])
    assert main(["doctor", str(MOCK_ARM), str(other)]) == 1
    assert "no joint of the robot is recorded" in capsys.readouterr().err
    assert (
        main(["doctor", str(MOCK_ARM), str(other), "--joints", "elbow_joint", "--recorded-joints", "x1y", "x2y"]) == 1
    )
    assert "expected 1 names, got 2" in capsys.readouterr().err
    for text, found in (("", "nothing"), ("t,q1\n0,1\n", "t, q1")):
        (tmp_path / "c.csv").write_text(text)
        assert main(["doctor", str(MOCK_ARM), str(tmp_path / "c.csv")]) == 1
        message = f"expected columns time and <joint>.position; its first line is {found}"
        assert message in capsys.readouterr().err
    assert main(["doctor", str(MOCK_ARM), str(tmp_path)]) == 1
    assert "is no folder of a bag: it has no metadata.yaml" in capsys.readouterr().err


def test_arm_of_a_recording_has_the_joints_that_are_recorded(tmp_path):
    names = list(MODEL.joint_names)
    assert recorded_arm(MODEL, ["gripper", *reversed(names)]) == (MODEL, names)
    arm, called = recorded_arm(MODEL, names[:4])
    assert arm.joint_names == tuple(called) == tuple(names[:4])
    assert recorded_arm(MODEL, [f"ur_{name}" for name in names])[1] == [f"ur_{name}" for name in names]
    with pytest.raises(InputError, match="no joint of the robot is recorded"):
        recorded_arm(MODEL, ["nose"])
    path = write_csv(tmp_path / "c.csv", synthetic_recording(MODEL, 3, seconds=1.0), names)
    assert joints_in_recording(path, "") == names


def test_fingers_that_mimic_each_other_are_locked_and_the_links_of_a_parallelogram_are_not():
    panda = RobotModel.from_urdf_file(example_robots() / "panda_description/urdf/panda.urdf")
    arm = [f"panda_joint{i}" for i in range(1, 8)]
    fingers = ["panda_finger_joint1", "panda_finger_joint2"]
    assert recorded_arm(panda, [*arm, *fingers]) == (panda.reduced(arm), arm)
    links = "".join(link(name, mass=1.0, inertia=(0.1, 0, 0, 0.1, 0, 0.1)) for name in "abcd")
    passive = joint("passive", "revolute", "a", "c").replace("</joint>", '<mimic joint="shoulder"/></joint>')
    joints = joint("shoulder", "revolute", "a", "b") + passive + joint("elbow", "revolute", "b", "d")
    robot = RobotModel.from_urdf(f'<robot name="r">{links}{joints}</robot>')
    assert recorded_arm(robot, ["shoulder", "passive", "elbow"]) == (robot, ["shoulder", "elbow"])
