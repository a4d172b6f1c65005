# SPDX-License-Identifier: Apache-2.0
"""The command `campaign`: its last line, workers, and the replay of a world."""

import json

import pytest

from ros2_dyn.cli.main import main
from ros2_dyn_tools.campaign.promises import Broken
from ros2_dyn_tools.campaign.runner import play_world
from ros2_dyn_tools.cli.campaign import describe_violations

COMMAND = ["campaign", "--faults", "24", "--seed", "9", "--family", "right model"]


def last_line(capsys) -> dict:
    result = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert result.pop("wall_seconds") > 0
    return result


def test_campaign_prints_json_last_and_the_same_for_any_number_of_workers(capsys):
    assert main([*COMMAND, "--workers", "1"]) == 0
    result = last_line(capsys)
    assert (result["faults"], list(result["families"])) == (24, ["right model"])
    assert main([*COMMAND, "--workers", "2"]) == 0
    assert last_line(capsys) == result


def test_replay_prints_the_timeline_and_draws_it(capsys, tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    picture = tmp_path / "world.png"
    assert main(["campaign", "--replay", "4873548939688931", "--family", "states", "--output", str(picture)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert json.loads(lines[-1])["seed"] == 4873548939688931
    assert sum(": " in line and "fault begins" in line for line in lines) == 10
    assert any(" command: " in line for line in lines)
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_violations_are_described_with_figures_mode_and_faults():
    played = play_world(5, 1, family="states")
    (fault,) = [record[2] for record in played.world.records if record[1] == "fault begins"]
    found = played._replace(broken=[Broken("travel", 0.5, "elbow", 0.31234, 0.3)])
    (line,) = describe_violations(found)
    assert line.startswith("   0.5000 broken: travel: 'elbow' 0.312, 0.3 promised; mode '")
    assert line.endswith(f"; faults: {fault}")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--faults", "0"], "faults: expected a positive number, got 0"),
        (["--seed", "-1"], "seed: expected a number that is not negative, got -1"),
        (["--workers", "0"], "workers: expected a positive number, got 0"),
    ],
)
def test_campaign_with_an_invalid_argument_exits_with_one_line(capsys, arguments, problem):
    assert main(["campaign", "--workers", "1", *arguments]) == 1
    assert capsys.readouterr().err.splitlines()[-1] == f"ros2_dyn: {problem}"
