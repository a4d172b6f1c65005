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
    heaviest_load,
    nominal_arm,
    random_home,
    singular_home,
    variant,
)
from ros2_dyn_tools.campaign.families import FAMILIES
from ros2_dyn_tools.campaign.faults import FAULTS
from ros2_dyn_tools.campaign.random_world import AFTERMATH, world_of
from ros2_dyn_tools.campaign.runner import play_world, run_campaign, world_seeds
from short_worlds import shorten_worlds

SEED, FAULTS_PLAYED, FAULTS_PER_WORLD = 2, 6, 3
RIGHT = "right model"


@pytest.fixture(scope="module", autouse=True)
def short_worlds_in_tasks_of_their_own() -> Iterator[None]:
    """Spread even a few faults over several worlds and tasks."""
    with pytest.MonkeyPatch.context() as patch:
        shorten_worlds(patch, FAULTS_PER_WORLD)
        patch.setattr(runner, "WORLDS_PER_TASK", 1)
        yield


@pytest.fixture(scope="module")
def result() -> dict:
    """Return the result of a campaign on one thread, without its time."""
    with ThreadPoolExecutor(1) as executor:
        return without_time(run_campaign(FAULTS_PLAYED, SEED, executor).as_dict())


def without_time(result: dict) -> dict:
    return {name: value for name, value in result.items() if name != "wall_seconds"}


def test_campaign_counts_worlds_and_faults_by_family_and_finds_nothing(result):
    assert (result["seed"], result["faults"]) == (SEED, FAULTS_PLAYED)
    assert list(result["families"]) == list(FAMILIES)
    assert sum(part["worlds"] for part in result["families"].values()) == result["worlds"]
    assert (result["violations"], result["failing_worlds"]) == ({}, [])
    assert result["commanded_hours"] > 0


def test_campaign_on_processes_gives_the_result_of_one_thread(result):
    progress = []
    with ProcessPoolExecutor(2) as executor:
        again = run_campaign(FAULTS_PLAYED, SEED, executor, progress.append)
    assert without_time(again.as_dict()) == result
    assert sum(progress) == FAULTS_PLAYED


def test_campaign_with_a_broken_limiter_names_the_worlds_that_show_it(monkeypatch):
    def limit(self, wanted, now):
        self.last = 3.0 * np.nan_to_num(wanted)
        return self.last, ()

    monkeypatch.setattr(EffortLimiter, "limit", limit)
    with ThreadPoolExecutor(1) as executor:
        result = run_campaign(3, 3, executor, family=RIGHT)
    ((world, faults),) = world_seeds(3, 3, RIGHT)
    assert result.families[RIGHT].violations["slew rate"] == 1
    assert result.failing_worlds == [(world, RIGHT)]
    assert "slew rate" in [each.promise for each in play_world(world, faults, family=RIGHT).broken]


def test_worlds_of_a_campaign_are_those_of_a_longer_one():
    short, long = world_seeds(5, 60), world_seeds(5, 200)
    assert long[: len(short) - 1] == short[:-1]
    assert len({seed for seed, _ in long}) == len(long)
    assert world_seeds(6, 20)[0] != long[0]
    assert sum(count for _, count in short) == 60
    assert [count for _, count in world_seeds(5, 7, RIGHT)] == [3, 3, 1]


def test_world_with_fewer_faults_begins_as_that_with_more():
    short, long = play_world(11, 3, family=RIGHT).world, world_of(FAMILIES[RIGHT], 11, 6)
    long.run(short.end - AFTERMATH - 0.01)
    assert long.records == [record for record in short.records if record[0] <= long.queue.now_ns]


def test_worst_motion_of_a_family_comes_with_the_seed_that_shows_it(result):
    shown = [(name, part["worst"]["joint speed"]) for name, part in result["families"].items() if part["worlds"]]
    family, (speed, seed) = max(shown, key=lambda each: each[1][0])
    record = play_world(seed, dict(world_seeds(SEED, FAULTS_PLAYED))[seed], family=family).record
    assert float(np.abs(record.motion.qd).max()) == speed


def test_unpremised_worlds_are_few_and_every_kind_of_fault_has_a_family():
    assert FAMILIES["unpremised"].share <= 0.1
    premised = {kind for family in FAMILIES.values() if not family.free for kind in family.faults}
    mixed = {"arm restarted", "commands late", "failsafe killed", "description changed", "names swapped"}
    assert set(FAULTS) - premised == mixed


@pytest.mark.parametrize(("faults", "seed", "problem"), [(0, 1, "faults: .* got 0"), (10, -1, "seed: .* got -1")])
def test_campaign_without_faults_or_with_a_negative_seed_is_rejected(faults, seed, problem):
    with pytest.raises(InputError, match=problem):
        world_seeds(seed, faults)


def test_random_worlds_have_many_kinds_of_faults_rates_and_settings():
    settings, rates, kinds, frames, hybrid = set(), set(), set(), set(), set()
    for seed in range(30):
        world = world_of(FAMILIES["unpremised"], seed, 1)
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
    seen = {record[2] for record in play_world(5, 20, family="unpremised").world.records if record[1] == "fault begins"}
    assert 10 < len(seen) <= len(FAULTS)


@pytest.mark.parametrize("family", ["payload", "untouched"])
def test_robots_tell_efforts_as_they_take_them_where_users_are_wrong_about_the_weight(family):
    settings = [world_of(FAMILIES[family], seed, 1).options.settings for seed in range(30)]
    told = {(each.commands.convention, each.states.measured_effort) for each in settings}
    assert told == {("raw", "raw"), ("gravity_compensated", "gravity_compensated")}


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
        assert heaviest_load(real.arm) < 0.9  # or nothing holds an arm that a fault has stretched out
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
