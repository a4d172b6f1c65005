# SPDX-License-Identifier: Apache-2.0
"""`ros2_dyn passport`, as a user runs it, of an arm in amperes with a load of known mass."""

import re
import sys

import numpy as np
import pytest
import yaml

from recordings import DRIVES, efforts, exciting_motion, recording
from robots import MOCK_ARM, mock_arm
from ros2_dyn.cli.main import main
from ros2_dyn.model import Payload
from ros2_dyn.runtime.parameter_files import read_arm
from ros2_dyn.simulation.perturbed import perturbed
from ros2_dyn_tools.recording.recording import Recording

for library in ("scipy", "plotly"):
    pytest.importorskip(library, reason=f"{library} is not installed")
MODEL = mock_arm().reduced(mock_arm().joint_names[:3])
"""What is recorded; the command finds out that the others are not."""
DYNAMICS = {name: DRIVES[name] for name in MODEL.joint_names}
ARM = perturbed(MODEL.with_joint_dynamics(DYNAMICS), np.random.default_rng(3), 0.15)
LOAD = Payload(2.8, (0.02, -0.01, 0.08), np.diag([0.012, 0.012, 0.006]))
CONSTANT = np.array([1.25, 1.25, -1.25])
"""N m for one unit of the driver's effort."""


def told(arm, seed) -> Recording:
    motion = exciting_motion(MODEL, 30.0, 30.0)
    noise = 0.3 * np.random.default_rng(seed).normal(size=motion.q.shape)
    return recording(motion, (efforts(arm, motion) + noise) / CONSTANT)


def write_csv(path, motion: Recording):
    kinds = ("position", "velocity", "effort")
    header = ",".join(["time", *(f"{joint}.{kind}" for kind in kinds for joint in MODEL.joint_names)])
    np.savetxt(path, np.column_stack([motion.t, *motion[1:]]), "%.9g", delimiter=",", header=header, comments="")
    return str(path)


def test_passport_of_an_arm_in_amperes_with_one_sign_turned_over(tmp_path, capsys, monkeypatch):
    bare = write_csv(tmp_path / "bare.csv", told(ARM, 1))
    loaded = write_csv(tmp_path / "loaded.csv", told(ARM.carrying(LOAD), 2))
    folder = tmp_path / "arm"
    command = ["passport", str(MOCK_ARM), bare, "--load", loaded, "--mass", "2.8", "-o", str(folder)]
    assert main(command) == 0, capsys.readouterr().err
    assert "Is bare.csv good enough?" in capsys.readouterr().out
    parameters = yaml.safe_load((folder / "arm.yaml").read_text())["/**"]["ros__parameters"]
    np.testing.assert_allclose(parameters["states"]["effort_gain"], CONSTANT, rtol=0.01)
    assert all(0 < level < 10 for level in parameters["collision"]["threshold"])
    found = read_arm(folder / "arm.urdf", folder / "arm.yaml").model
    other = exciting_motion(MODEL, 10.0, 50.0, seed=9)
    error = efforts(found, other) - efforts(ARM, other)
    assert np.all(np.std(error, axis=0) < 0.05 * np.std(efforts(ARM, other), axis=0))
    page = (folder / "passport.html").read_text()
    assert "<script" not in page
    for part in ("sign", "along x", f"collision.threshold: {thresholds(folder)}", "with a standard error of 0."):
        assert part in page
    assert '<a href="efforts.html">' in page
    curves = (folder / "efforts.html").read_text()
    judged = re.search(r"RMS values are those of ([0-9.]+) to ([0-9.]+) s", curves)
    np.testing.assert_allclose([float(x) for x in judged.groups()], [20, 29.5], atol=0.2)  # the last third
    assert all(f'"name":"{label}"' in curves for label in ("measured", "friction", "as described", "model"))
    today = ["passport", str(MOCK_ARM), bare, "--before", str(folder), "-o", str(tmp_path / "today")]
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    assert main(today) == 0, capsys.readouterr().err
    page = (tmp_path / "today" / "passport.html").read_text()
    assert "The efforts are not drawn: output: Plotly, which draws the page, is not installed" in page
    assert not (tmp_path / "today" / "efforts.html").exists()
    changes = re.search(r"Friction at the recording.*?</table>", page, re.DOTALL).group()
    numbers = re.findall(r"<td>(-?[0-9.]+)</td>", changes)
    then, now = (np.array(numbers[k::5], dtype=float) for k in (1, 2))
    np.testing.assert_allclose(now, then, rtol=0.05)  # the same recording, in N m by the gains of before


def thresholds(folder):
    """Return the thresholds of the node's parameters, as the page has them."""
    parameters = yaml.safe_load((folder / "arm.yaml").read_text())["/**"]["ros__parameters"]
    return [float(f"{x:.3g}") for x in parameters["collision"]["threshold"]]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (["--load", "loaded.csv"], "load: expected --load and --mass together"),
        (["--mass", "2"], "load: expected --load and --mass together"),
    ],
)
def test_load_without_mass_is_refused(tmp_path, capsys, more, expected):
    assert main(["passport", str(MOCK_ARM), str(tmp_path / "none.csv"), *more]) == 1
    assert expected in capsys.readouterr().err


def test_joint_without_efforts_is_named_after_the_gate(tmp_path, capsys):
    motion = told(ARM, 1)
    motion.effort[:, 2] = np.nan
    path = write_csv(tmp_path / "silent.csv", motion)
    assert main(["passport", str(MOCK_ARM), path, "-o", str(tmp_path / "arm")]) == 1
    printed = capsys.readouterr()
    assert "Is silent.csv good enough?" in printed.out
    two = " ".join(MODEL.joint_names[:2])
    assert f"joints: {MODEL.joint_names[2]} has no efforts that change; leave it out: --joints {two}" in printed.err


def test_what_has_to_be_mended_first_is_told(tmp_path, capsys):
    motion = told(ARM, 1)
    swapped = motion._replace(effort=motion.effort[:, [0, 2, 1]])
    path = write_csv(tmp_path / "swapped.csv", swapped)
    assert main(["passport", str(MOCK_ARM), path, "-o", str(tmp_path / "arm")]) == 1
    assert "the doctor finds joint_order" in capsys.readouterr().err
    assert not list((tmp_path / "arm").iterdir())
