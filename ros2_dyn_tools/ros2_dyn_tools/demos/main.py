# SPDX-License-Identifier: Apache-2.0
"""The demos: a simulated arm and the node `dynamics` exchange ROS 2 messages, and a table shows what they do."""

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

from ros2_dyn.errors import ProcessError
from ros2_dyn.ros.localhost import use_localhost_only
from ros2_dyn_tools.demos.collision_demo import CollisionDemo
from ros2_dyn_tools.demos.demo import Demo
from ros2_dyn_tools.demos.demo_runner import DemoRunner, Interrupted, Processes
from ros2_dyn_tools.demos.feed_forward_demo import FeedForwardDemo
from ros2_dyn_tools.demos.force_demo import ForceDemo
from ros2_dyn_tools.demos.hand_guiding_demo import HandGuidingDemo
from ros2_dyn_tools.demos.handover_demo import HandoverDemo
from ros2_dyn_tools.demos.identify_demo import IdentifyDemo
from ros2_dyn_tools.demos.impedance_demo import ImpedanceDemo
from ros2_dyn_tools.demos.monitor_demo import MonitorDemo

DEMOS: dict[str, tuple[Callable[[float, float], Demo], float, str]] = {
    "monitor": (MonitorDemo, math.inf, "counted; left out: until Ctrl-C"),
    "hand_guiding": (HandGuidingDemo, 10.0, "for which the drift of the tip is measured after the release"),
    "force": (ForceDemo, 4.0, "for which the tip presses"),
    "impedance": (ImpedanceDemo, 3.0, "for the return after each push"),
    "handover": (HandoverDemo, 0.5, "for which the arm is watched after each handover"),
    "feed_forward": (FeedForwardDemo, 8.0, "of one lap"),
    "collision": (CollisionDemo, 8.0, "of the motion"),
    "identify": (IdentifyDemo, 40.0, "of the motion that is recorded"),
}
"""By mode: makes a demo of a duration and a pace; the default duration, s; what it is the duration of."""


def main() -> int:
    """Run the executable `demo`; return its exit status."""
    parser = argparse.ArgumentParser(prog="demo", description=__doc__)
    parser.add_argument("--mode", choices=DEMOS, default="monitor", help="what is shown; default: monitor")
    meanings = "; ".join(f"{mode}: {meaning}" for mode, (_, _, meaning) in DEMOS.items())
    parser.add_argument("--duration", type=_seconds, help=f"simulated seconds, in {meanings}")
    pace_help = "simulated time over wall time, in all modes but monitor; 0: as fast as possible; default: 1"
    parser.add_argument("--pace", type=_pace, default=1.0, help=pace_help)
    parser.add_argument("--view", action="store_true", help="show it in the browser, too; the address is printed")
    arguments = parser.parse_args()
    make, duration, _ = DEMOS[arguments.mode]
    use_localhost_only()
    return play(lambda: make(arguments.duration or duration, arguments.pace), arguments.view)


def play(make: Callable[[], Demo], view: bool = False) -> int:
    """Play a demo to its end and print its report as JSON; return the exit status.

    Args:
        make: makes the demo.
        view: whether a page in the browser shows it, too.
    """
    interrupted = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: interrupted.set())
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    demo = make()
    try:
        with Processes(**demo.commands()) as processes, Live(auto_refresh=False) as live:
            runner = DemoRunner(demo.node, processes, live, interrupted)
            runner.table = demo.table
            try:
                if view:
                    _show_page(runner, live)
                demo.run(runner)
                runner.check()
            finally:
                runner.show()
                with suppress(ProcessError, Interrupted):
                    demo.stop(runner)
        failure = demo.failure()
    except ProcessError as error:
        failure = str(error)
    except Interrupted:
        failure = "interrupted before its end"
    finally:
        rclpy.shutdown()
    print(flush=True)
    if failure is not None:
        print(failure, file=sys.stderr)
    print(json.dumps({name: _plain(value) for name, value in demo.report().items()}))
    return 0 if failure is None else 1


def _show_page(runner: DemoRunner, live: Live) -> None:
    """Start the page, and print its address; errors as of `DemoRunner.wait_until`."""
    runner.processes.start("view", ["ros2_dyn", "view"])

    def lines() -> list[str]:
        return [line for line in runner.processes.printed("view").splitlines() if line.startswith("page: ")]

    runner.wait_until(lambda: bool(lines()), "address of the page")
    live.console.print(lines()[0])


def _plain(value: object) -> object:
    """Return a value that JSON has, with four significant digits."""
    if isinstance(value, float):
        return float(f"{value:.4g}") if math.isfinite(value) else None
    return value


def _seconds(text: str) -> float:
    """Return a positive duration."""
    seconds = float(text)
    if not seconds > 0:
        raise argparse.ArgumentTypeError(f"expected a positive number of seconds, got {text}")
    return seconds


def _pace(text: str) -> float:
    """Return a pace."""
    pace = float(text)
    if not 0 <= pace <= 1000:
        raise argparse.ArgumentTypeError(f"expected a number from 0 to 1000, got {text}")
    return pace


if __name__ == "__main__":
    sys.exit(main())
