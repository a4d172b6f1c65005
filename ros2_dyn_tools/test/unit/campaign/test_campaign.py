# SPDX-License-Identifier: Apache-2.0
"""Campaigns: the result depends on the seed alone, whatever plays the worlds."""

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

from ros2_dyn.control.effort_limiter import EffortLimiter
from ros2_dyn.control.modes.feed_forward import FeedForwardSettings
from ros2_dyn.dynamics import gravity, jacobian, singular_values
from ros2_dyn.errors import InputError
from ros2_dyn_tools.campaign import runner
from ros2_dyn_tools.campaign.arm_pool import (
    OWN_ARM,
    VARIANTS,
    arm_names,
    example_robots,
    nominal_arm,
    random_home,
    singular_home,
    variant,
)
from ros2_dyn_tools.campaign.command_judge import RULES
from ros2_dyn_tools.campaign.faults import FAULTS
from ros2_dyn_tools.campaign.random_world import FAULTS_PER_WORLD, random_world
from ros2_dyn_tools.campaign.runner import KINDS, play_world, run_campaign, world_seeds
from ros2_dyn_tools.campaign.world import CRASH

FAULTS_PLAYED = 2 * FAULTS_PER_WORLD + 5


@pytest.fixture(scope="module", autouse=True)
def one_world_per_task() -> Iterator[None]:
    """Spread even a few worlds over several tasks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "WORLDS_PER_TASK", 1)
        yield


@pytest.fixture(scope="module")
def result() -> dict:
    """Return the result of a campaign on one thread, without its time."""
    with ThreadPoolExecutor(1) as executor:
        return without_time(run_campaign(FAULTS_PLAYED, 3, executor).as_dict())


def without_time(result: dict) -> dict:
    return {name: value for name, value in result.items() if name != "wall_seconds"}


def test_campaign_counts_its_faults_and_finds_no_bad_command(result):
    assert list(result) == ["seed", "faults", "commanded_seconds", "judged_stops", "violations", "failing_seeds"]
    assert (result["seed"], result["faults"]) == (3, FAULTS_PLAYED)
    assert list(result["violations"]) == list(KINDS)
    assert {kind: result["violations"][kind] for kind in (*RULES, CRASH)} == dict.fromkeys((*RULES, CRASH), 0)
    assert result["commanded_seconds"] > 1.0


@pytest.mark.parametrize("workers", [1, 2])
def test_campaign_on_processes_gives_the_result_of_one_thread(result, workers):
    progress = []
    with ProcessPoolExecutor(workers) as executor:
        again = run_campaign(FAULTS_PLAYED, 3, executor, progress.append)
    assert without_time(again.as_dict()) == result
    assert sorted(progress) == [5, FAULTS_PER_WORLD, FAULTS_PER_WORLD]


def test_campaign_with_a_broken_limiter_names_the_worlds_that_show_it(monkeypatch):
    def limit(self, wanted, now):
        self.last = 3.0 * np.nan_to_num(wanted)
        return self.last, ()

    monkeypatch.setattr(EffortLimiter, "limit", limit)
    with ThreadPoolExecutor(1) as executor:
        result = run_campaign(FAULTS_PER_WORLD, 3, executor)
    assert result.violations["step above the slew limit"] > 0
    assert result.failing_seeds == [world_seeds(3, FAULTS_PER_WORLD)[0][0]]
    assert play_world(result.failing_seeds[0]).violations == {k: n for k, n in result.violations.items() if n}


def test_worlds_of_a_campaign_are_those_of_a_longer_one():
    short, long = world_seeds(5, 3 * FAULTS_PER_WORLD), world_seeds(5, 10 * FAULTS_PER_WORLD)
    assert long[:3] == short
    assert len({seed for seed, _ in long}) == 10
    assert world_seeds(6, 20)[0] != long[0]
    assert [count for _, count in world_seeds(5, 2 * FAULTS_PER_WORLD + 1)] == [FAULTS_PER_WORLD, FAULTS_PER_WORLD, 1]


def test_world_with_fewer_faults_begins_as_that_with_more():
    short, long = play_world(11, 3), random_world(11, 6)
    long.run(short.end - 1.0)
    assert long.records == [record for record in short.records if record[0] <= long.queue.now_ns]


@pytest.mark.parametrize(("faults", "seed", "problem"), [(0, 1, "faults: .* got 0"), (10, -1, "seed: .* got -1")])
def test_campaign_without_faults_or_with_a_negative_seed_is_rejected(faults, seed, problem):
    with pytest.raises(InputError, match=problem):
        world_seeds(seed, faults)


def test_random_worlds_have_many_kinds_of_faults_rates_and_settings():
    settings, rates, kinds, frames, hybrid = set(), set(), set(), set(), set()
    for seed in range(40):
        world = random_world(seed, 0)
        settings.add(
            (world.options.settings.commands.stop_behaviour, world.options.settings.mode(FeedForwardSettings).law)
        )
        kinds.add(world.options.settings.commands.command_effort)
        frames.add(world.options.targets.pose_in_base)
        hybrid.add(bool(world.options.targets.pressed_axes))
        rates.add(world.options.driver.rate)
    assert len(settings) >= 3
    assert len(rates) >= 3
    assert kinds == {"raw", "gravity_compensated", "position_offset", "current"}
    assert frames == hybrid == {False, True}
    seen = {record[2] for record in play_world(1).records if record[1] == "fault begins"}
    assert 10 < len(seen) <= len(FAULTS)


def test_pool_has_ten_arms_of_example_robot_data_where_it_is_installed():
    assert example_robots() is None or len(set(arm_names()) - {OWN_ARM}) >= 10


# --- arms -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", arm_names())
def test_arm_of_the_pool_can_be_commanded_in_all_variants(name):
    nominal = nominal_arm(name)
    assert np.all(np.isfinite(nominal.effort_limit) & (nominal.effort_limit > 0))
    assert np.all(np.isfinite(nominal.velocity_limit) & (nominal.velocity_limit > 0))
    for number in range(VARIANTS):
        real = variant(name, number)
        assert real.description.joint_names == real.arm.joint_names == nominal.joint_names
        home = random_home(real.arm, np.random.default_rng(number))
        assert np.all((home > real.arm.lower) & (home < real.arm.upper))
        assert np.all(np.abs(gravity(real.arm, home)) < real.arm.effort_limit)
    assert variant(name, 0).arm == nominal
    assert variant(name, 1).payload is not None
    assert variant(name, 1).bare != variant(name, 1).arm


def test_variant_is_the_same_whenever_it_is_made():
    first = variant(OWN_ARM, 1)
    variant.cache_clear()
    assert variant(OWN_ARM, 1).arm == first.arm


def test_singular_home_is_more_singular_than_others_and_can_be_held():
    arm = nominal_arm(OWN_ARM)
    homes = [make(arm, np.random.default_rng(seed)) for make in (singular_home, random_home) for seed in range(3)]
    singular, others = np.array([singular_values(jacobian(arm, q))[-1] for q in homes]).reshape(2, 3)
    assert singular.max() < 0.3 * others.min()
    assert all(np.all(np.abs(gravity(arm, q)) < 0.5 * arm.effort_limit) for q in homes[:3])


def test_unknown_arm_is_rejected():
    with pytest.raises(InputError, match=r"arm: expected one of mock_arm.*, got 'nobody'"):
        nominal_arm("nobody")
