# SPDX-License-Identifier: Apache-2.0
"""The detector over recordings: made here, and of real arms where those are at hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from real_arms import REAL_ARMS, real_arm
from recordings import DRIVES, MODEL, TRUE, write_bag
from recordings import recorded_motion as motion
from robots import MOCK_ARM
from ros2_dyn.cli.main import main
from ros2_dyn.errors import InputError
from ros2_dyn_tools.cli.collision_report import ArtificialContact, collision_report
from ros2_dyn_tools.recording.detection import detect, observe, smallest_steps, with_step
from ros2_dyn_tools.recording.friction_identification import identify_friction
from ros2_dyn_tools.recording.recording import read_recording

for library in ("rosbags", "plotly"):
    pytest.importorskip(library, reason=f"{library} is not installed")

K = 25.0


def test_a_bag_is_read_by_name(tmp_path):
    """Whatever else is in it; errors say what is missing."""
    recording = motion(seconds=1.0)
    write_bag(tmp_path / "bag", recording, MODEL.joint_names)
    for found, expected in zip(read_recording(tmp_path / "bag", MODEL.joint_names), recording):
        assert_allclose(found, expected, rtol=0, atol=1e-8)
    for arguments, problem in (
        ((tmp_path / "bag", ["nose"]), "no complete states of nose: its joints are elbow_joint, finger,"),
        ((tmp_path / "bag", ["nose"], "/other"), "it has no messages on /other"),
        ((tmp_path / "none", ["nose"]), "there is no"),
    ):
        with pytest.raises(InputError, match=problem):
            read_recording(*arguments)
    (tmp_path / "broken.db3").write_bytes(b"nothing")
    with pytest.raises(InputError, match="cannot be read"):
        read_recording(tmp_path / "broken.db3", ["nose"])


def test_drives_are_found():
    """Those that the motion was made with."""
    fitted = identify_friction(MODEL, motion())
    for joint in fitted.joints:
        true = DRIVES[joint.name]
        found = [joint.dynamics.viscous, joint.dynamics.coulomb, joint.dynamics.armature]
        assert_allclose(found, [true.viscous, true.coulomb, true.armature], rtol=0, atol=0.15)
    with pytest.raises(InputError, match="at least 50"):
        identify_friction(MODEL, motion(seconds=0.1))


def test_an_injected_contact_is_what_the_observer_would_have_seen():
    """It is linear in the measured effort."""
    recording = motion(seconds=2.0)
    e = np.array([0.0, 5.0, 0, 0, -1.0, 0])
    pushed = recording._replace(effort=recording.effort - np.where(recording.t[:, None] >= 1.0, e, 0.0))
    direct = observe(TRUE, pushed, K)
    injected = with_step(recording, observe(TRUE, recording, K), start=1.0, effort=e, bandwidth=K)
    assert_allclose(injected, direct, rtol=0, atol=0.6 * 5 * K / 250)  # half a sample, that a step lies between two


def test_the_smallest_step_is_detected_and_less_is_not():
    """At every moment, in both directions."""
    recording = motion(noise=1.0)
    report = collision_report(MODEL, recording)
    assert not report.alarms
    quiet = report.residuals
    _, steps = smallest_steps(report.recording, quiet, report.thresholds, bandwidth=K)
    for joint in (1, 5):
        step = np.max(steps[:, joint])
        assert 0.5 * report.thresholds[joint] < step < 4 * report.thresholds[joint]
        missed = 0
        for start in np.linspace(13.0, 23.0, 40):
            for sign in (1, -1):
                e = sign * np.eye(6)[joint]
                more = with_step(report.recording, quiet, start=start, effort=1.02 * step * e, bandwidth=K)
                assert detect(more, report.thresholds)
                less = with_step(report.recording, quiet, start=start, effort=0.6 * step * e, bandwidth=K)
                missed += not detect(less, report.thresholds)
        assert missed


def test_the_report_of_a_bag(tmp_path, capsys):
    """As a user asks for it: numbers on the terminal, plots on a page, and one line for a mistake."""
    write_bag(tmp_path / "bag", motion(noise=1.0), MODEL.joint_names)
    urdf = str(MOCK_ARM)
    output = str(tmp_path / "contacts.html")
    bag = ["collision-report", str(tmp_path / "bag"), "--urdf", urdf, "--output", output]
    assert main([*bag, "--inject", "elbow_joint", "20", "15", "--inject", "wrist_3_joint", "-5", "20"]) == 0
    printed = capsys.readouterr().out
    assert "elbow_joint: 20 at 15 s: detected after" in printed
    assert "wrist_3_joint: -5 at 20 s: detected after" in printed
    assert "2 collisions detected in 11" in printed
    page = (tmp_path / "contacts.html").read_text(encoding="utf-8")
    assert page.count('"name":"contact begins"') == MODEL.n
    assert all(name in page for name in MODEL.joint_names)
    assert main([*bag, "--inject", "nose", "20", "15"]) == 1
    assert "inject: no joint 'nose'" in capsys.readouterr().err


@pytest.mark.parametrize("name", REAL_ARMS)
def test_a_real_arm_that_nothing_touches(name):
    """Calibrated on the first half: no false alarm on the second, and steps are found that are not huge."""
    model, recording = real_arm(name)
    report = collision_report(model, recording)
    assert not report.alarms
    assert np.all(np.array(report.smallest) < 4 * np.array(report.thresholds))
    joint = model.joint_names[1]
    for start in np.linspace(0.55, 0.9, 8) * recording.t[-1]:
        pushed = collision_report(model, recording, steps=[ArtificialContact(joint, 1.05 * report.smallest[1], start)])
        assert pushed.delays[0] is not None
