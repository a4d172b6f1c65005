"""The demos: a simulated arm and the node `dynamics` talk ROS 2 to each other, and a picture shows what they say."""

from __future__ import annotations

import argparse
import json
import math
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress

import rclpy
from rclpy.signals import SignalHandlerOptions
from rich.live import Live

from ros2_dyn.demos.collision import CollisionDemo
from ros2_dyn.demos.efforts import EffortsDemo
from ros2_dyn.demos.feed_forward import FeedForwardDemo
from ros2_dyn.demos.force import ForceDemo
from ros2_dyn.demos.hand_guiding import HandGuidingDemo
from ros2_dyn.demos.processes import Processes, stay_on_this_machine
from ros2_dyn.demos.stage import Interrupted, Scenario, Stage
from ros2_dyn.errors import ProcessError

SCENARIOS: dict[str, tuple[Callable[[float], Scenario], float, str]] = {
    "monitor": (EffortsDemo, math.inf, "counted; left out: until Ctrl-C"),
    "hand_guiding": (HandGuidingDemo, 10.0, "for which the tip is watched after the hand has let go"),
    "force": (ForceDemo, 4.0, "for which the tip presses"),
    "feed_forward": (FeedForwardDemo, 8.0, "of one lap"),
    "collision": (CollisionDemo, 8.0, "of the motion"),
}
"""By mode: how a demo is made of a duration, the duration's default, s, and what it is the duration of."""


def main() -> int:
    """The executable `demo`."""
    parser = argparse.ArgumentParser(prog="demo", description=__doc__)
    parser.add_argument("--mode", choices=SCENARIOS, default="monitor", help="what is shown; monitor, if left out")
    meanings = "; ".join(f"{mode}: {meaning}" for mode, (_, _, meaning) in SCENARIOS.items())
    parser.add_argument("--duration", type=_seconds, help=f"seconds, in {meanings}")
    arguments = parser.parse_args()
    make, duration, _ = SCENARIOS[arguments.mode]
    stay_on_this_machine()
    return play(lambda: make(arguments.duration or duration))


def play(make: Callable[[], Scenario]) -> int:
    """Play a demo to its end, and print what it has seen; the exit status."""
    interrupted = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: interrupted.set())
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    scenario = make()
    try:
        with Processes(**scenario.commands()) as processes, Live(auto_refresh=False) as live:
            stage = Stage(scenario.node, processes, live, interrupted)
            stage.picture = scenario.picture
            try:
                scenario.run(stage)
            finally:
                stage.show()
                with suppress(ProcessError, Interrupted):
                    scenario.leave(stage)
        problem = scenario.shortfall()
    except ProcessError as error:
        problem = str(error)
    except Interrupted:
        problem = "interrupted before its end"
    finally:
        rclpy.shutdown()
    print(flush=True)
    if problem:
        print(problem, file=sys.stderr)
    print(json.dumps({name: _plain(value) for name, value in scenario.report().items()}))
    return 1 if problem else 0


def _plain(value: object) -> object:
    """As JSON knows it, with no more digits than mean something."""
    if isinstance(value, float):
        return float(f"{value:.4g}") if math.isfinite(value) else None
    return value


def _seconds(text: str) -> float:
    """A positive duration."""
    seconds = float(text)
    if not seconds > 0:
        raise argparse.ArgumentTypeError(f"expected a positive number of seconds, got {text}")
    return seconds


if __name__ == "__main__":
    sys.exit(main())
