# SPDX-License-Identifier: Apache-2.0
"""The phases of commands: what each commands, what ends it, after how long, and where that leads.

`Stop` moves by `TRANSITIONS` and by nothing else. The table and the drawing of docs/safety.md are made of them, too.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

MONITOR, STOPPED = "monitor", "stopped"
"""What is shown in the place of a mode where none commands, and after one has stopped."""
Phase = Literal["silent", "active", "braking", "holding", "failed", "released", "zeroing", "leaving", "ending"]
Signal = Literal["entered", "stopped", "dropped", "left", "unseen", "rests", "moves", "fails", "ends", "aborted"]
"""What leads from one phase to the next. `dropped` is a stop with `zero_effort`."""


class About(NamedTuple):
    """What a phase is."""

    mode: str | None
    """The mode that is shown; None: the one that was entered."""
    commanded: str
    """What is commanded, in words."""
    without_states: str
    """What is commanded where states are too old, in words; empty: nothing."""


REPEATED = "a slew to what held the arm last, repeated"
PHASES: dict[Phase, About] = {
    "silent": About(MONITOR, "nothing", ""),
    "active": About(None, "the law of the mode", "a slew to gravity compensation, or to zero with `zero_effort`"),
    "braking": About(STOPPED, "gravity compensation, damping, springs, and the sum of their efforts", REPEATED),
    "holding": About(STOPPED, "what `braking` commands", REPEATED),
    "failed": About(STOPPED, "what `braking` commands; `commands.stop_service` is called", REPEATED),
    "released": About(STOPPED, "the same, without these joints; `commands.stop_service` again", REPEATED),
    "zeroing": About(STOPPED, "a slew to zero, and zero for 0.3 s", "the same"),
    "leaving": About(MONITOR, "what `braking` commands", REPEATED),
    "ending": About(MONITOR, "the effort that holds the arm, constant; or a ramp to zero", REPEATED),
}


class Transition(NamedTuple):
    """What leads from a phase to another one."""

    before: Phase
    signal: Signal
    after: Phase
    when: str
    """When that happens, in words, with the time that it takes."""


ENTERED = "a mode is requested, and all entry checks hold"
LEFT = "`monitor` is requested"
FAILS = (
    "a joint exceeds 1.2 times the speed at the stop, or that to which efforts drive it until they have turned, by 0.2 "
    "rad/s. From then on, what is allowed falls to 0.2 rad/s within 1 s, or sooner where efforts can be built up "
    "sooner; an arm that obeys and is pushed is judged when that ends. Whatever drives it: a joint exceeds 1.2 times "
    "the speed at the stop, or after 1 s none, by 0.4 rad/s for 0.15 s"
)
STALE = "states are too old"
FAILS_OR_STALE = f"a condition fails, or {STALE}"
CHANGED = "the robot changes, without `zero_effort`"
TRANSITIONS = (
    Transition("silent", "entered", "active", ENTERED),
    Transition("active", "entered", "active", "another mode is requested"),
    Transition("active", "stopped", "braking", FAILS_OR_STALE),
    Transition("active", "dropped", "zeroing", f"{FAILS_OR_STALE}, with `zero_effort`"),
    Transition("active", "left", "leaving", LEFT),
    Transition("braking", "rests", "holding", "no joint has moved by 0.003 rad in 0.3 s since the stop"),
    Transition("braking", "fails", "failed", FAILS),
    Transition(
        "holding",
        "fails",
        "failed",
        "a joint is 0.3 rad away from where it rested, or faster than 0.4 rad/s for 0.15 s",
    ),
    Transition(
        "holding", "moves", "braking", "an arm that obeys and is pushed: a joint is 0.3 rad away from where it rested"
    ),
    Transition("holding", "stopped", "braking", STALE),
    Transition(
        "failed",
        "fails",
        "released",
        "a joint that is not known to obey does the opposite of what is commanded",
    ),
    Transition("zeroing", "ends", "silent", "zero has been commanded for 0.3 s"),
    Transition("leaving", "rests", "ending", "no joint has moved by 0.003 rad in 0.3 s"),
    Transition("leaving", "fails", "failed", FAILS),
    Transition("leaving", "stopped", "braking", CHANGED),
    Transition("leaving", "ends", "silent", "no state for 2 s"),
    Transition("ending", "moves", "leaving", "a joint moves by 0.003 rad in 0.3 s"),
    Transition("ending", "unseen", "leaving", STALE),
    Transition("ending", "stopped", "braking", CHANGED),
    Transition("ending", "ends", "silent", "this effort has held the arm for 0.3 s"),
    *(Transition(each, "left", "leaving", LEFT) for each in ("braking", "holding", "failed", "released", "zeroing")),
    *(
        Transition(each, "entered", "active", ENTERED)
        for each in ("holding", "failed", "released", "zeroing", "leaving", "ending")
    ),
)
