# SPDX-License-Identifier: Apache-2.0
"""Modes through late loops, judged by the motion of the arm: stable, refused or ended, and never fast.

The arms have rotors and no friction: nothing but the control law takes energy from them. With FULL=1 the whole sweep
is played; its table is printed with `pytest -s`.
"""

from __future__ import annotations

from itertools import product

import pytest

from light_arms import Loop, Outcome, light_arm, play
from ros2_dyn.control.passivity_observer import PassivityObserver
from tiers import by_turns, part

TIP_SPEED_LIMIT = 0.25
"""Speed that the tip must not exceed, m/s."""
RATES = (1000.0, 500.0, 250.0, 125.0, 50.0)
LATE = [
    Loop(states=0.0),
    Loop(states=0.01),
    Loop(states=0.02),
    Loop(states=0.04),
    Loop(states=0.07),
    Loop(commands=0.01),
    Loop(commands=0.02),
    Loop(commands=0.04),
    Loop(commands=0.08),
    Loop(states=0.01, commands=0.01),
    Loop(states=0.02, jitter=0.02),
    Loop(burst=0.02),
    Loop(burst=0.04),
]
LOOPS = [loop._replace(rate=rate) for rate, loop in product(RATES, LATE)]
ARMS = ("mock_arm", "panda", "z1", "ur10")


def loops(*names: tuple[float, Loop]) -> list[Loop]:
    """Return all loops where FULL is 1, otherwise some: rate and kind."""
    return part(LOOPS, *(LOOPS.index(loop._replace(rate=rate)) for rate, loop in names))


def show(name: str, what: str, loop: Loop, outcome: Outcome) -> None:
    """Print a row of the table."""
    fate = (
        f"refused: {outcome.refused}" if outcome.refused else f"ended: {outcome.ended}" if outcome.ended else "stable"
    )
    delays = "/".join(f"{1e3 * delay:.0f}" for delay in loop[1:])
    motion = f"tip {outcome.tip_speed:.3f} m/s, wall {outcome.force:.0f} N, impact {outcome.impact:.0f} N"
    print(f"{name:9}{what:14}{loop.rate:5.0f} Hz {delays:>12} ms: {motion}, {fate}")


@pytest.mark.parametrize(
    ("loop", "name"),
    by_turns(loops((250.0, LATE[2]), (125.0, LATE[7]), (250.0, LATE[11])), part(ARMS, 0, 2)),
    ids=str,
)
def test_force_without_contact_stays_slow_through_a_late_loop(loop, name):
    outcome = play(*light_arm(name), "force", loop, force=5.0, gap=None, push=0.0, seconds=2.0)
    show(name, "5 N, free", loop, outcome)
    assert outcome.tip_speed <= TIP_SPEED_LIMIT


@pytest.mark.parametrize(
    ("loop", "name"),
    by_turns(loops((250.0, LATE[1]), (250.0, LATE[6]), (250.0, LATE[3]), (125.0, LATE[10])), part(ARMS, 0, 1)),
    ids=str,
)
def test_twenty_newton_on_a_stiff_wall_through_a_late_loop_peak_no_higher_than_the_impact_explains(loop, name):
    outcome = play(*light_arm(name), "force", loop, force=20.0, seconds=2.0)
    show(name, "20 N, wall", loop, outcome)
    assert outcome.force <= 30.0 + outcome.impact
    assert outcome.tip_speed <= TIP_SPEED_LIMIT
    if not (outcome.refused or outcome.ended) and loop.rate >= 125:
        assert outcome.last_force == pytest.approx(20.0, rel=0.25)


@pytest.mark.parametrize(
    ("loop", "guided"),
    by_turns(
        loops((250.0, LATE[3]), (250.0, LATE[4]), (125.0, LATE[8])),
        part(product(["hand_guiding", "gravity"], ARMS), 0, 6),
    ),
    ids=str,
)
def test_a_guided_arm_comes_to_rest_through_a_late_loop(loop, guided):
    """It is pushed for 0.2 s, and slows down at the rate of its damping at least."""
    mode, name = guided
    outcome = play(*light_arm(name), mode, loop, gap=None, push=1.5, seconds=3.5)
    show(name, mode, loop, outcome)
    assert outcome.tip_speed <= TIP_SPEED_LIMIT
    assert outcome.refused or outcome.ended or outcome.last_speed < 0.55 * outcome.tip_speed + 0.002


def test_force_is_refused_where_the_delay_allows_no_such_force():
    outcome = play(*light_arm("mock_arm"), "force", Loop(500.0, states=0.05))
    assert "a delay of" in outcome.refused
    assert "allows no force of 20 N" in outcome.refused
    assert "Desire at most" in outcome.refused


def test_the_command_delay_that_is_declared_counts_before_efforts_show_it():
    outcome = play(*light_arm("mock_arm"), "force", Loop(500.0, commands=0.05), **{"commands.delay": 0.05})
    assert "allows no force of 20 N" in outcome.refused


@pytest.mark.parametrize(("clock", "name"), by_turns([0.02, 0.03, 0.05], part(ARMS, 0, 1)))
def test_efforts_show_a_late_loop_through_stamps_of_a_clock_that_is_ahead(name, clock):
    """By them the states are young: 30 ms late, as the commands are."""
    loop = Loop(250.0, states=0.03, commands=0.03, clock=clock)
    outcome = play(*light_arm(name), "force", loop, force=10.0, seconds=2.0)
    show(name, "10 N, wall", loop, outcome)
    assert outcome.force <= 20.0 + outcome.impact
    assert outcome.tip_speed <= TIP_SPEED_LIMIT


@pytest.mark.parametrize("mode", ["force", "impedance"])
def test_modes_that_press_are_refused_where_nothing_tells_the_delay(mode):
    loop = Loop(250.0, states=0.03, commands=0.03, clock=0.03, measures_efforts=False)
    assert "the delay of the commands is not known" in play(*light_arm("mock_arm"), mode, loop).refused


def test_stamps_ahead_of_their_arrival_add_to_the_declared_delay():
    loop, told = Loop(500.0, commands=0.01, measures_efforts=False), {"commands.delay": 0.01}
    assert not play(*light_arm("mock_arm"), "force", loop, seconds=0.5, **told).refused
    hidden = play(*light_arm("mock_arm"), "force", loop._replace(clock=0.04), **told)
    assert "allows no force of 20 N" in hidden.refused


@pytest.mark.parametrize(
    ("drift", "efforts"), part(product([0.02, -0.02, 0.05, -0.05], [True, False]), 0, 2, 5), ids=str
)
def test_clocks_that_drift_apart_end_the_mode_or_leave_it_as_soft_as_it_was(drift, efforts):
    """Commands are 20 ms late, and states by a time that their stamps tell less and less; 10 N are asked at a wall."""
    loop = Loop(250.0, states=0.02, commands=0.02, drift=drift, measures_efforts=efforts)
    told = {} if efforts else {"commands.delay": 0.02}
    outcome = play(*light_arm("mock_arm"), "force", loop, force=10.0, seconds=4.0, **told)
    show("mock_arm", "clocks drift", loop, outcome)
    assert outcome.ended or outcome.last_force == pytest.approx(10.0, rel=0.25)
    assert outcome.force <= 30.0 + outcome.impact
    assert outcome.tip_speed <= TIP_SPEED_LIMIT


def test_a_loop_without_delay_presses_as_before():
    outcome = play(*light_arm("mock_arm"), "force", Loop(500.0), seconds=2.0)
    assert outcome.last_force == pytest.approx(20.0, rel=0.01)
    assert outcome.force < 25.0


def test_late_gravity_compensation_does_not_drive_an_upright_arm():
    """Undamped, so that nothing hides what the delay feeds in."""
    case, told = {"gap": None, "push": 1.0, "seconds": 4.5}, {"gravity.damping": 0.0}
    prompt, late = (play(*light_arm("z1"), "gravity", Loop(250.0, at), **case, **told) for at in (0.0, 0.07))
    assert prompt.ended == late.ended == ""
    assert late.tip_speed < 1.1 * prompt.tip_speed


def test_an_arm_that_late_damping_bounces_on_a_wall_is_damped_less_and_calms_down(monkeypatch):
    """Ten newton are allowed at this delay; an observer that sees nothing shows what happens without it."""

    def pressed() -> Outcome:
        return play(*light_arm("mock_arm"), "force", Loop(250.0, states=0.02), force=12.0)

    calm = pressed()
    monkeypatch.setattr(PassivityObserver, "on_state", lambda *_: None)
    bouncing = pressed()
    assert bouncing.last_speed > 0.1
    assert calm.ended or calm.last_speed < 0.4 * bouncing.last_speed
    assert calm.force <= 30.0 + calm.impact
