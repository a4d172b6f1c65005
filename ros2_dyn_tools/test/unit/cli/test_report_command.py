# SPDX-License-Identifier: Apache-2.0
"""`ros2_dyn report` from a bag to files, and one line for each mistake."""

from datetime import datetime, timezone
from pathlib import Path

import pytest
import yaml

from recordings import DRIVES, MODEL, recorded_motion, write_bag
from robots import MOCK_ARM
from ros2_dyn.cli.main import main
from ros2_dyn_tools.cli.recording_arguments import recording_began

for library in ("rosbags", "plotly"):
    pytest.importorskip(library, reason=f"{library} is not installed")

PARAMETERS = {
    "robot.joints": list(MODEL.joint_names),
    "friction.viscous": [each.viscous for each in DRIVES.values()],
    "friction.coulomb": [each.coulomb for each in DRIVES.values()],
    "robot.armature": [each.armature for each in DRIVES.values()],
    "friction.transition_velocity": 0.05,
}
NOVEMBER = 1_794_000_000
"""Some time in November 2026, s."""


@pytest.fixture(scope="module")
def bag(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("recorded") / "bag"
    write_bag(path, recorded_motion(rate=50.0, noise=1.0), MODEL.joint_names, NOVEMBER)
    return path


def test_a_bag_becomes_a_page(bag, tmp_path, capsys):
    parameters = tmp_path / "identified.yaml"
    parameters.write_text(yaml.safe_dump({"/**/dynamics": {"ros__parameters": PARAMETERS}}))
    output = tmp_path / "arm.html"
    arguments = ["report", str(bag), "--urdf", str(MOCK_ARM), "--parameters", str(parameters), "--output", str(output)]
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    assert "RMS of the effort, and of each error, N m" in printed
    assert max(map(len, printed.splitlines())) <= 80 + len(str(output))  # the path is not broken
    assert all(word in printed for word in ("described", "fitted", "identified", "unexplained,", *MODEL.joint_names))
    assert "False alarms in the part that is judged: 0 as described, 0 friction fitted, 0 identified." in printed
    page = output.read_text(encoding="utf-8")
    began = datetime.fromtimestamp(NOVEMBER, timezone.utc)
    assert f"bag, {began:%Y-%m-%d %H:%M:%S} to" in page
    assert "model&#x27;s (identified)" in page


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--output", "report.pdf"], "output: expected a name that ends in .html, got 'report.pdf'"),
        (["--recorded-joints", "a", "b"], "recorded-joints: expected 6 names, got 2"),
        (["--joints", "nose"], "nose"),
        (["--parameters", "none.yaml"], "parameters: 'none.yaml' cannot be read"),
    ],
)
def test_a_mistake_is_one_line(bag, arguments, problem, capsys):
    assert main(["report", str(bag), "--urdf", str(MOCK_ARM), *arguments]) == 1
    told = capsys.readouterr().err
    assert problem in told
    assert told.count("\n") == 1


def test_the_date_is_that_of_the_bag_and_not_that_of_simulated_time(bag, tmp_path):
    assert recording_began(bag) == datetime.fromtimestamp(NOVEMBER, timezone.utc)
    write_bag(tmp_path / "simulated", recorded_motion(1.0, 50.0), MODEL.joint_names, began=5)
    assert recording_began(tmp_path / "simulated") is None
    assert recording_began(tmp_path / "arm.csv") is None
