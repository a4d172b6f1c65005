# SPDX-License-Identifier: Apache-2.0
"""What is done to a recording is what the doctor says: of an arm that is not quite its model, and of real ones."""

import numpy as np
import pytest

from any_arms import any_arm
from doctor_cases import frictional, pairs_of_faults, single_faults, untouched
from doctor_grades import Arm, codes_of, grade, tool_at
from real_arms import real_arm
from recordings import synthetic_recording
from robots import mock_arm
from ros2_dyn.model import RobotModel
from ros2_dyn_tools.doctor import diagnose
from ros2_dyn_tools.doctor.effort_gain import in_common
from ros2_dyn_tools.doctor.hypothesis import Hypothesis
from ros2_dyn_tools.recording.recording import Recording
from tiers import FULL, part
from wrong_recordings import Wrong, wrong_recording

pytest.importorskip("scipy", reason="SciPy is not installed")
MODEL, LONGER = (mock_arm().reduced(mock_arm().joint_names[:n]) for n in (3, 4))
RECORDING, OF_LONGER = (synthetic_recording(model, 2, seconds=15.0, rate=50.0) for model in (MODEL, LONGER))
ALL = tuple(range(6))
CASES = {
    "sign and payload": Wrong(signs=(2,), payload=(3.0, 0.0, 0.02, 0.05)),
    "nothing": Wrong(),
    "exchanged joints and gravity compensated": Wrong(swapped=(0, 2), compensated=True),
    "degrees and mounting": Wrong(degrees=True, gravity=(0.0, 9.81, 0.0)),
    "gain and delay": Wrong(gain=0.1, delay=0.1),
    "external": Wrong(external=1.0),
    "percent": Wrong(percent=True),
    "all signs": Wrong(signs=ALL),
    "exchanged efforts and gain": Wrong(swapped_efforts=(1, 3), gains=((1, 50.0),)),
    "hanging and delay": Wrong(gravity=(0.0, 0.0, 9.81), delay=-0.12),
}
ARMS = {"ur10": 6, "panda": 7}
REAL = [(arm, done) for arm, n in ARMS.items() for done in (*single_faults(n), *pairs_of_faults(n))]

OWN_GAIN = "this UR10's efforts fit its description best with a gain of 1.3 and a payload"
UPRIGHT = "what is wrong with the Panda's masses stays upright where a recording is tilted by the model"
KNOWN = {
    ("ur10", "common gain and payload"): OWN_GAIN,
    ("ur10", "payload of 3 kg"): OWN_GAIN,
    ("panda", "gain and common gain"): "the description has a hand that this Panda lacks",
    ("panda", "gain and percent"): "gains of two wrists, whose efforts are friction, explain it as well",
    ("panda", "tilted by 45 degrees about x"): UPRIGHT,
    ("panda", "common gain and mounting"): UPRIGHT,
    ("panda", "order and mounting"): UPRIGHT,
    ("panda", "degrees and mounting"): UPRIGHT,
}
"""What is told of a real arm with a number that is off, or as something else, and why."""


def said(model: RobotModel, recording: Recording) -> set[tuple[str, int | None]]:
    return set(codes_of(model, diagnose(model, recording).findings))


@pytest.mark.skipif(not FULL, reason="takes a minute; FULL=1 plays it")
@pytest.mark.parametrize("name", CASES)
def test_what_is_done_to_a_synthetic_recording_is_told(name):
    arm = mock_arm()
    wrong = wrong_recording(arm, synthetic_recording(arm, 2, seconds=15.0, rate=50.0), CASES[name])
    assert said(arm, wrong) == CASES[name].codes(arm.n)


def test_two_things_that_are_done_are_told_with_numbers_near_what_was_done():
    def found(wrong: Wrong, model: RobotModel = MODEL, recording: Recording = RECORDING):
        findings = diagnose(model, wrong_recording(model, recording, wrong)).findings
        assert set(codes_of(model, findings)) == wrong.codes(model.n)
        return {each.code: each for each in findings}

    loaded = found(Wrong(gravity=(9.81, 0.0, 0.0), payload=(4.0, 0.0, 0.0, 0.1)), LONGER, OF_LONGER)
    assert loaded["mounting"].value == pytest.approx([9.81, 0.0, 0.0], abs=0.5)
    assert "robot.gravity: [9.81, 0.0, 0.0]" in loaded["mounting"].remedy
    assert loaded["payload"].value == pytest.approx(4.0, abs=1.0)
    late = found(Wrong(gain=0.1, delay=0.1))
    assert late["gain"].value == pytest.approx(10.0, rel=0.25)
    assert late["delay"].value == pytest.approx(0.1, abs=0.03)
    assert "effort_gain: [" in late["gain"].remedy


@pytest.mark.parametrize(("arm", "which"), part([(arm, i) for arm in ARMS for i in range(7)], 10))
def test_nothing_is_wrong_with_recordings_of_real_arms_whole_or_in_parts(arm, which):
    model, recording = real_arm(arm)
    assert said(model, list(untouched(recording).values())[which]) == {("ok", None)}


@pytest.mark.parametrize(("arm", "done"), part(REAL, REAL.index(("ur10", "sign and order"))))
def test_what_is_done_to_a_recording_of_a_real_arm_is_told_and_nothing_else(arm, done):
    model, recording = real_arm(arm)
    what = {**single_faults(model.n), **pairs_of_faults(model.n)}[done]
    findings = diagnose(model, wrong_recording(model, recording, what)).findings
    result = grade(model, what, findings, Arm(tool_at(model, recording), frictional(model, recording)))
    if (result.false or result.far) and (arm, done) in KNOWN:
        pytest.xfail(KNOWN[arm, done])
    assert (result.missed, result.false, result.far) == (set(), set(), set()), findings


def test_a_counterbalance_is_told_with_its_stiffness_and_not_as_a_tilted_base():
    wrong = wrong_recording(MODEL, RECORDING, Wrong(springs=((1, 60.0),)))
    (found,) = diagnose(MODEL, wrong).findings
    assert (found.code, found.joint) == ("spring", MODEL.joint_names[1])
    assert found.value == pytest.approx(60.0, rel=0.3)
    assert found.confidence > 0.9


def test_efforts_that_are_a_little_too_small_are_a_note_that_asks_for_a_known_load():
    report = diagnose(MODEL, RECORDING._replace(effort=RECORDING.effort / 1.6))
    assert [each.code for each in report.findings] == ["ok"]
    (told,) = (note.text for note in report.notes if note.subject == "gain")
    assert "record the motion once more with a known load" in told
    assert float(told.split()[5]) == pytest.approx(1.6, rel=0.15)


@pytest.mark.parametrize("seed", part([170, 186, 189], 2))
def test_nothing_is_told_of_an_arm_that_is_only_lighter_or_rubs_more_than_its_description_says(seed):
    """Gains of 1.6, percent and five gains were told: its masses are all wrong, or its effort limits."""
    arm = any_arm(seed)
    assert arm.what == Wrong()
    assert said(arm.description, arm.recording) == {("ok", None)}


@pytest.mark.skipif(not FULL, reason="takes five minutes; FULL=1 plays it")
def test_nine_of_ten_findings_that_are_told_with_a_confidence_of_0_9_are_right():
    arms = [any_arm(seed) for seed in range(60)]
    findings = [(arm, each) for arm in arms for each in diagnose(arm.description, arm.recording).findings]
    right = [arm.right(each) for arm, each in findings if each.code != "ok" and each.confidence >= 0.9]
    assert np.mean(right) >= 0.9


def test_joint_without_efforts_is_noted_and_the_others_are_diagnosed():
    wrong = wrong_recording(MODEL, RECORDING, Wrong(signs=(1,)))
    effort = wrong.effort.copy()
    effort[:, 2] = np.nan
    report = diagnose(MODEL, wrong._replace(effort=effort))
    assert [(each.code, each.joint) for each in report.findings] == [("sign", MODEL.joint_names[1])]
    assert ("effort", MODEL.joint_names[2]) in {(note.subject, note.joint) for note in report.notes}


def test_gains_that_are_mostly_the_same_are_one_of_all_joints():
    right = Hypothesis.nothing_wrong(4)
    gains = Hypothesis(right.states, right.efforts, (0.1, -0.1, 0.5, 0.11))
    common = in_common(gains)
    assert common.common_gain == pytest.approx(0.11)
    assert common.gains == pytest.approx((1.0, -1.0, 0.5 / 0.11, 1.0))
