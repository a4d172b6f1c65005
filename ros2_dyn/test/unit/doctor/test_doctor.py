"""What is done to a recording is what the doctor says: of an arm that is not quite its model, and of real ones."""

import numpy as np
import pytest

from real_arms import real_arm
from robots import general_tree, mock_arm
from ros2_dyn.doctor import diagnose
from ros2_dyn.errors import InputError
from ros2_dyn.estimation.recording import Recording
from ros2_dyn.model import RobotModel
from tiers import part
from wrong_recordings import Wrong, synthetic_recording, wrong_recording

pytest.importorskip("scipy", reason="SciPy is not installed")
MODEL = mock_arm()
RECORDING = synthetic_recording(MODEL, 2, seconds=15.0, rate=50.0)
ALL = tuple(range(6))
CASES = {
    "nothing": Wrong(),
    "sign and payload": Wrong(signs=(2,), payload=(3.0, 0.0, 0.02, 0.05)),
    "exchanged joints and gravity compensated": Wrong(swapped=(0, 2), compensated=True),
    "degrees and mounting": Wrong(degrees=True, gravity=(0.0, 9.81, 0.0)),
    "gain and delay": Wrong(gain=0.1, delay=0.1),
    "external": Wrong(external=1.0),
    "percent": Wrong(percent=True),
    "all signs": Wrong(signs=ALL),
    "exchanged efforts and gain": Wrong(swapped_efforts=(1, 3), gains=((1, 50.0),)),
    "hanging and delay": Wrong(gravity=(0.0, 0.0, 9.81), delay=-0.12),
}


def said(model: RobotModel, recording: Recording) -> set[tuple[str, int | None]]:
    return {
        (each.code, None if each.joint is None else model.joint_names.index(each.joint))
        for each in diagnose(model, recording).findings
    }


@pytest.mark.parametrize("name", part(CASES, 0, 1, 2))
def test_what_is_done_to_a_synthetic_recording_is_told(name):
    wrong = wrong_recording(MODEL, RECORDING, CASES[name])
    assert said(MODEL, wrong) == CASES[name].codes(6)


def test_numbers_of_the_findings_are_near_what_was_done():
    def found(wrong: Wrong):
        return {each.code: each for each in diagnose(MODEL, wrong_recording(MODEL, RECORDING, wrong)).findings}

    loaded = found(Wrong(gravity=(9.81, 0.0, 0.0), payload=(4.0, 0.0, 0.0, 0.1)))
    assert loaded["mounting"].value == pytest.approx([9.81, 0.0, 0.0], abs=0.5)
    assert "gravity: [9.81, 0, 0]" in loaded["mounting"].remedy
    assert loaded["payload"].value == pytest.approx(4.0, abs=1.0)
    late = found(Wrong(gain=0.1, delay=0.1))
    assert late["gain"].value == pytest.approx(10.0, rel=0.25)
    assert late["delay"].value == pytest.approx(0.1, abs=0.03)
    assert "effort_gain: [" in late["gain"].remedy


@pytest.mark.parametrize("arm", ["ur10", "panda"])
def test_nothing_is_wrong_with_recordings_of_real_arms(arm):
    model, recording = real_arm(arm)
    assert said(model, recording) == {("ok", None)}


REAL = [
    ("ur10", Wrong(compensated=True)),
    ("panda", Wrong(swapped_efforts=(1, 3), signs=(5,))),
    ("ur10", Wrong(external=1.0, degrees=True)),
    ("panda", Wrong(percent=True)),
    ("ur10", Wrong(delay=0.1, payload=(5.0, 0.0, 0.0, 0.1))),
    ("panda", Wrong(gravity=(0.0, 0.0, 9.81), gain=0.1)),
    ("ur10", Wrong(swapped=(0, 2), gravity=(0.0, 9.81, 0.0))),
]


@pytest.mark.parametrize(("arm", "wrong"), part(REAL, 1))
def test_what_is_done_to_a_recording_of_a_real_arm_is_told(arm, wrong):
    model, recording = real_arm(arm)
    assert said(model, wrong_recording(model, recording, wrong)) == wrong.codes(model.n)


def test_input_that_cannot_be_diagnosed_is_refused():
    with pytest.raises(InputError, match="several degrees of freedom"):
        diagnose(general_tree(1), RECORDING)
    with pytest.raises(InputError, match="expected 6 joints"):
        diagnose(MODEL, Recording(RECORDING.t, *(x[:, :5] for x in RECORDING[1:])))
    with pytest.raises(InputError, match="no joint has efforts"):
        diagnose(MODEL, RECORDING._replace(effort=np.full_like(RECORDING.effort, np.nan)))
