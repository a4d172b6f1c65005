# SPDX-License-Identifier: Apache-2.0
"""The command `campaign`: its last line, workers, a Dask cluster, and the replay of a world."""

import json

import pytest

from ros2_dyn.cli.main import main
from ros2_dyn_tools.campaign.motion_rules import Finding
from ros2_dyn_tools.campaign.random_world import FAULTS_PER_WORLD, random_world
from ros2_dyn_tools.campaign.runner import KINDS
from ros2_dyn_tools.cli.campaign import describe_violations

COMMAND = ["campaign", "--faults", str(FAULTS_PER_WORLD + 4), "--seed", "9"]


def last_line(capsys) -> dict:
    result = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert result.pop("wall_seconds") > 0
    return result


def test_campaign_prints_json_last_and_the_same_for_any_number_of_workers(capsys):
    assert main([*COMMAND, "--workers", "1"]) == 0
    result = last_line(capsys)
    assert list(result) == ["seed", "faults", "commanded_seconds", "judged_stops", "violations", "failing_seeds"]
    assert list(result["violations"]) == list(KINDS)
    assert main([*COMMAND, "--workers", "2"]) == 0
    assert last_line(capsys) == result


def test_campaign_on_a_dask_cluster_of_two_workers_gives_the_result_of_local_processes(capsys):
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    assert main([*COMMAND, "--workers", "1"]) == 0
    local = last_line(capsys)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        assert main([*COMMAND, "--scheduler", cluster.scheduler_address]) == 0
    assert last_line(capsys) == local


def test_replay_prints_the_timeline_and_draws_it(capsys, tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    picture = tmp_path / "world.png"
    assert main(["campaign", "--replay", "4873548939688931", "--output", str(picture)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert json.loads(lines[-1])["seed"] == 4873548939688931
    assert sum(": " in line and "fault begins" in line for line in lines) == FAULTS_PER_WORLD
    assert any(" command: " in line for line in lines)
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_violations_are_described_with_figures_mode_and_faults():
    world = random_world(5, 0)
    for kind, *details in (
        ("mode", "gravity", ""),
        ("fault begins", "noise"),
        ("violation", "above the limit"),
        ("violation", *Finding("travels after a stop", "elbow", 0.31234, 0.3)),
        ("fault ends", "noise"),
        ("violation", "above the limit"),
    ):
        world.record(kind, *details)
    assert list(describe_violations(world)) == [
        "   0.0000 judged: above the limit; mode 'gravity'; faults: noise",
        "   0.0000 judged: travels after a stop: 'elbow' 0.312, 0.3 allowed; mode 'gravity'; faults: noise",
        "   0.0000 judged: above the limit; mode 'gravity'; faults: none",
    ]


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


def test_scheduler_without_dask_is_rejected_with_what_to_install(capsys, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    assert main([*COMMAND, "--scheduler", "tcp://127.0.0.1:1"]) == 1
    assert "scheduler: Dask is not installed: pip install 'ros2_dyn[cluster]'" in capsys.readouterr().err
