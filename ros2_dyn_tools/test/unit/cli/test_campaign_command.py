# SPDX-License-Identifier: Apache-2.0
"""The command `campaign`: its last line, its tables and drawings, and arguments that are wrong."""

import json
import re

import numpy as np
import pytest
from numpy.testing import assert_allclose
from rich.console import Console

from robots import MOCK_ARM
from ros2_dyn.cli.main import main
from ros2_dyn.dynamics import gravity
from ros2_dyn.model import RobotModel
from ros2_dyn_tools.campaign.arm_pool import UserArm
from ros2_dyn_tools.campaign.broken import Broken
from ros2_dyn_tools.campaign.families import FAMILIES
from ros2_dyn_tools.campaign.random_world import world_of
from ros2_dyn_tools.campaign.record import MOTIONS
from ros2_dyn_tools.campaign.runner import CampaignResult, FamilyResult, play_world
from ros2_dyn_tools.cli.campaign import describe_violations, show
from short_worlds import shorten_worlds

JOINTS = RobotModel.from_urdf_file(MOCK_ARM).joint_names
CEILING = [0.0, 0.0, 9.81]
CHOSEN = {
    "robot.joints": list(JOINTS[::-1]),
    "robot.gravity": CEILING,
    "commands.max_tip_speed": 0.11,
    "states.effort_gain": [9.0] * 6,
    "collision.threshold": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
}


def test_own_arm_is_played_with_its_parameters_and_its_fastest_worlds_are_drawn(capsys, tmp_path, monkeypatch):
    shorten_worlds(monkeypatch, 1)
    drawn = []  # test_replay_command.py draws a world
    monkeypatch.setattr("ros2_dyn_tools.cli.campaign.draw", lambda world, path: drawn.append(path.name))
    parameters = tmp_path / "arm.yaml"
    parameters.write_text(json.dumps({"dynamics": {"ros__parameters": CHOSEN}}))
    own = ["--arm", str(MOCK_ARM), "--parameters", str(parameters), "--family", "payload"]
    picture = tmp_path / "fast.png"
    assert main(["campaign", "--faults", "2", "--workers", "1", *own, "--output", str(picture)]) == 0
    captured = capsys.readouterr()
    result = json.loads(captured.out.splitlines()[-1])
    assert (result["faults"], list(result["families"])) == (2, ["payload"])
    assert result["wall_seconds"] > 0
    fastest = result["fastest_worlds"]
    assert len(fastest) == 2
    assert fastest[0][2] >= fastest[1][2]
    assert drawn == ["fast_1.png", "fast_2.png"]
    assert max(map(len, captured.err.splitlines())) < 200
    user = UserArm(str(MOCK_ARM), str(parameters))
    world = world_of(FAMILIES["payload"], fastest[0][0], user=user)
    assert world.description.name == RobotModel.from_urdf_file(MOCK_ARM).name
    settings = world.options.settings
    assert settings.commands.max_tip_speed == 0.11
    assert settings.states.effort_gain[0] == world.options.driver.effort_unit
    assert dict(zip(settings.robot.joints, settings.collision.threshold)) == dict(zip(JOINTS[::-1], range(1, 7)))
    assert settings.robot.gravity == (0.0, 0.0, -9.81)
    q = np.linspace(-1.0, 1.0, 6)
    expected = gravity(RobotModel.from_urdf_file(MOCK_ARM), q, CEILING)
    assert_allclose(gravity(world.description, q), expected, rtol=0, atol=1e-12)


def test_table_of_worst_motions_fits_a_terminal(capsys):
    worst = dict.fromkeys(MOTIONS, (12.3456, 2**53 - 1)) | {"tip speed": (1.234e-17, 1), "contact force": (123.456, 1)}
    families = {name: FamilyResult(100, 2000, 1.0, 50, 200, 30, {"tip speed": 3}, worst) for name in FAMILIES}
    console = Console(width=80, no_color=True)
    show(CampaignResult(1, families), console)
    lines = capsys.readouterr().out.splitlines()
    assert all(any(line.strip().startswith(name) for line in lines) for name in FAMILIES)
    assert max(map(len, lines)) <= 80
    assert not any("…" in line for line in lines)
    assert f"broken in {3 * len(FAMILIES)} worlds: tip speed" in lines


def test_violations_are_described_with_figures_mode_and_faults():
    played = play_world(5, 1, family="states")
    (fault,) = [record[2] for record in played.world.records if record[1] == "fault begins"]
    found = played._replace(broken=[Broken(0.5, "elbow", 0.31234, 0.3, "travel")])
    (line,) = describe_violations(found)
    assert line.startswith("   0.5000 broken: travel: 'elbow' 0.312, 0.3 promised; mode '")
    assert line.endswith(f"; faults: {fault}")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--faults", "0"], "faults: expected a positive number, got 0"),
        (["--seed", "-1"], "seed: expected a number that is not negative, got -1"),
        (["--workers", "0"], "workers: expected a positive number, got 0"),
        (["--parameters", "arm.yaml"], "parameters: they belong to an arm: give --arm ARM.urdf, too"),
        (["--box", "world.mcap"], "box: it is that of one world: give --replay SEED, too"),
        (["--replay", "-4"], "replay: expected a seed that is not negative, got -4"),
    ],
)
def test_campaign_with_an_invalid_argument_exits_with_one_line(capsys, arguments, problem):
    assert main(["campaign", "--workers", "1", *arguments]) == 1
    assert capsys.readouterr().err.splitlines()[-1] == f"ros2_dyn: {problem}"


def test_own_arm_without_limits_is_rejected(capsys, tmp_path):
    urdf = tmp_path / "arm.urdf"
    urdf.write_text(re.sub(r'velocity="[0-9.]+"', 'velocity="0"', MOCK_ARM.read_text()))
    assert main(["campaign", "--workers", "1", "--arm", str(urdf)]) == 1
    problem = "arm: joint 'shoulder_pan_joint' needs an effort limit and a velocity limit: add <limit> in the URDF"
    assert capsys.readouterr().err.splitlines()[-1] == f"ros2_dyn: {problem}"
