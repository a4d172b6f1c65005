# SPDX-License-Identifier: Apache-2.0
"""A mode of one file: with nothing else changed it has parameters, is entered, judged, reported and drawn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ros2_dyn.cli.settings_page import parameter_file, parameter_page
from ros2_dyn.control import MODES, Arm, Law, Mode, Needs
from ros2_dyn.control.events import Violation
from ros2_dyn.control.modes.base import ModeReport
from ros2_dyn.control.parameter import Group, parameter
from ros2_dyn.errors import InputError
from ros2_dyn.runtime import CommandLink, Settings
from ros2_dyn.runtime.inputs import ModeRequest, SettingsChange
from ros2_dyn_tools.campaign.families import FAMILIES
from ros2_dyn_tools.campaign.promise import broken_promises
from ros2_dyn_tools.campaign.random_world import world_of
from runtime_rig import SETTINGS, RuntimeRig

MAX_SPEED = 0.5
"""Speed of the elbow above which the mode stops, rad/s."""


@dataclass(frozen=True)
class BrakeSettings(Group, name="brake", title="Mode brake"):
    """The brake."""

    rate: float = parameter(2.0, "Rate at which the third joint comes to rest, 1/s.", low=0.0, high=50.0)


class Brake(Mode[BrakeSettings]):
    """Gravity compensation that damps one joint."""

    name = "brake"
    needs = Needs(enabling_signal=True)
    Parameters = BrakeSettings

    def why_not_begin(self, arm: Arm) -> str:
        """Return whether the joint moves, though not too fast."""
        return "the elbow moves" if abs(arm.state.qd[2]) > MAX_SPEED / 2 else ""

    def why_not_go_on(self, arm: Arm) -> Violation | None:
        """Return whether the joint is too fast."""
        return Violation("elbow too fast") if abs(arm.state.qd[2]) > MAX_SPEED else None

    def law(self, arm: Arm, parameters: BrakeSettings, dt: float) -> Law:
        """Return the efforts."""
        joint = np.eye(len(arm.state.q))[2]
        rate = arm.loop.rate(parameters.rate)
        return Law(arm.state.gravity - rate * joint * arm.state.momentum[2], supply=arm.state.gravity)

    def report(self) -> ModeReport:
        """Return for how long it has braked."""
        return ModeReport({"braked since (s)": self.began_at})


@pytest.fixture(autouse=True)
def _brake(monkeypatch):
    """Put the mode where those of the folder are."""
    monkeypatch.setitem(MODES, "brake", Brake)


def rig(**values) -> RuntimeRig:
    """Return an arm with a runtime that knows the mode, ready to be commanded."""
    made = RuntimeRig(Settings.from_values({**SETTINGS.values(), **values}), moves=False)
    made.runtime.step(CommandLink(), made.now)
    made.step(30)
    return made


def test_its_parameters_are_declared_documented_and_checked():
    assert Settings.from_values({"brake.rate": 3}).mode(BrakeSettings).rate == 3.0
    assert "brake:\n" in parameter_file()
    assert "| `brake.rate` | float | `2.0` | 0 to 50 |" in parameter_page()
    with pytest.raises(InputError, match=r"brake\.rate: expected a number from 0\.0 to 50\.0, got 99"):
        Settings.from_values({"brake.rate": 99})


def test_it_is_entered_with_its_button_and_commands_its_law():
    made = rig()
    made.pressed = False
    made.step(60)
    assert "it has to be true on ~/enable" in made.refusal("brake")
    made.pressed = True
    made.step(5)
    assert made.set_mode("brake").error is None
    made.step(40)
    assert made.runtime.mode == "brake", made.runtime.reason
    assert made.runtime.active_mode.report().numbers["braked since (s)"] > 0
    update = made.step()
    assert_allclose(update.command.effort, update.terms.gravity, rtol=0, atol=0.05)
    assert not made.violations


def test_diagnostics_tell_what_it_tells_of_itself():
    diagnostics = pytest.importorskip("ros2_dyn.ros.diagnostics")
    made = rig()
    assert made.set_mode("brake").error is None
    told = {each.key: each.value for each in diagnostics.mode_status(made.runtime, {}).values}
    assert told["mode"] == "brake"
    assert float(told["braked since (s)"]) > 0


def test_its_gain_changes_amid_the_mode():
    made = rig()
    assert made.set_mode("brake").error is None
    made.step(20)
    made.take(made.runtime.step(SettingsChange(made.settings.with_values({"brake.rate": 9.0})), made.now))
    made.step(40)
    assert made.runtime.mode == "brake"
    assert made.runtime.active_mode.parameters(made.now).rate == 9.0


def test_its_own_condition_ends_it():
    made = rig()
    assert made.set_mode("brake").error is None
    made.step(20)
    made.qd = np.array([0.0, 0.0, 0.6])
    made.step(5)
    assert (made.runtime.mode, made.runtime.reason) == ("stopped", "elbow too fast")


@pytest.mark.parametrize(("speed", "reason"), [(0.3, "the elbow moves"), (0.6, "elbow too fast")])
def test_it_is_refused_where_it_may_not_begin_and_where_it_may_not_go_on(speed, reason):
    made = rig()
    made.qd = np.array([0.0, 0.0, speed])
    made.step(5)
    assert reason in made.refusal("brake")


def test_others_than_the_modes_are_refused_and_it_is_named():
    made = rig()
    update = made.runtime.step(ModeRequest("waltz"), made.now)
    assert "impedance, brake; got 'waltz'" in str(update.replies[0].error)


def test_a_campaign_draws_and_plays_it():
    family = FAMILIES["right model"]
    drawn = (world_of(family, seed, 2) for seed in range(25))
    world = next(world for world in drawn if world.wanted_mode == "brake" and not world.options.patience)
    world.run(world.end)
    record = world.finish()
    assert record.times("mode", "brake")
    assert broken_promises(family.kept_promises(), record, family.disturbing) == []
