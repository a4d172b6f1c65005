# SPDX-License-Identifier: Apache-2.0
"""`make bench-node`: the node `dynamics` and a floor that computes nothing, in turns in one run; and its memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import rclpy
from rich.console import Console
from rich.table import Table

from driver import Driver
from ros2_dyn.model import RobotModel
from ros2_dyn.ros.localhost import use_localhost_only

URDF = Path(__file__).parents[2] / "ros2_dyn" / "config" / "mock_arm.urdf"
FLOOR, OURS, DETECTING = "floor", "dynamics", "with detector"
SHOWN = ("cpu_us", "p50_us", "p99_us", "max_us")
NODE = ["-m", "ros2_dyn.ros.dynamics_node"]
COMMANDS = {FLOOR: [str(Path(__file__).with_name("floor.py"))], OURS: NODE, DETECTING: NODE}
NAMESPACES = {FLOOR: "floor", OURS: "monitor", DETECTING: "detecting"}
RATES = (125, 250, 500, 1000)
TURNS, TURN_LENGTH, LONG_RUN = int(os.environ.get("TURNS", "11")), 2.0, 60.0


def main() -> None:
    """Measure, print, and write it to the folder given first; the second argument is the length of the soak, s."""
    folder, soak = Path(sys.argv[1]), float(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    use_localhost_only(shared_memory=True)
    os.environ["ROS_DOMAIN_ID"] = "93"
    rclpy.init()
    model = RobotModel.from_urdf_file(URDF)
    drivers = {name: Driver(NAMESPACES[name], model, name == DETECTING) for name in COMMANDS}
    started = {name: time.monotonic() for name in COMMANDS}
    processes = {name: start(name) for name in COMMANDS}
    try:
        for name, driver in drivers.items():
            driver.wait()
            print(f"{name}: first effort {time.monotonic() - started[name]:.2f} s after its process was started")
        report = {"by_rate": {rate: compare(drivers, processes, rate) for rate in RATES}}
        for name, rate in ((FLOOR, 500), (FLOOR, 1000), (OURS, 1000), (DETECTING, 1000)):
            long = summary(drivers[name], processes[name], rate, LONG_RUN)
            report["by_rate"].setdefault(f"{LONG_RUN:g} s at {rate}", {})[name] = long
        show(report["by_rate"])
        report["memory_kib"] = memory(drivers[OURS], processes[OURS], soak)
    finally:
        for process in processes.values():
            process.kill()
    (folder / "node.json").write_text(json.dumps(report, indent=2), encoding="utf-8")
    print(json.dumps(report["memory_kib"]))


def start(name: str) -> subprocess.Popen[bytes]:
    """One of the two nodes, in its namespace."""
    arguments = ["--ros-args", "-r", f"__ns:=/{NAMESPACES[name]}", "-p", f"urdf_file:={URDF}"]
    if name == OURS:
        arguments += ["-p", "collision.bandwidth:=0.0"]
    return subprocess.Popen([sys.executable, *COMMANDS[name], *arguments])


def compare(drivers: dict[str, Driver], processes: dict[str, subprocess.Popen[bytes]], rate: int) -> dict[str, dict]:
    """Turns of all at one rate; the medians of each figure, and of ours over the floor's of the same turn."""
    turns: dict[str, list[dict[str, float]]] = {name: [] for name in drivers}
    for _ in range(TURNS):
        for name, driver in drivers.items():
            turns[name].append(summary(driver, processes[name], rate, TURN_LENGTH))
    medians = {name: {key: float(np.median([t[key] for t in ts])) for key in ts[0]} for name, ts in turns.items()}
    for name in (OURS, DETECTING):
        pairs = list(zip(turns[name], turns[FLOOR]))
        ratios = {key: float(np.median([ours[key] / floor[key] for ours, floor in pairs])) for key in SHOWN}
        medians[f"{name} / {FLOOR}"] = ratios
    return medians


def summary(driver: Driver, process: subprocess.Popen[bytes], rate: float, seconds: float) -> dict[str, float]:
    """What one turn shows."""
    before = cpu(process)
    sent, latencies = driver.drive(rate, seconds)
    p50, p99, most = 1e6 * np.percentile(latencies, [50, 99, 100])
    used = cpu(process) - before
    answered = max(1, len(latencies))  # a message that was dropped cost nothing
    return {
        "cpu_us": 1e6 * used / answered,
        "p50_us": p50,
        "p99_us": p99,
        "max_us": most,
        "lost": sent - len(latencies),
    }


def cpu(process: subprocess.Popen[bytes]) -> float:
    """Seconds of processor time that a process has used in all its threads."""
    tasks = Path(f"/proc/{process.pid}/task").glob("*/schedstat")  # to the ns: stat counts in hundredths of a second
    return 1e-9 * sum(int(task.read_text(encoding="ascii").split()[0]) for task in tasks)


def resident(process: subprocess.Popen[bytes]) -> int:
    """KiB in memory."""
    lines = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


def memory(driver: Driver, process: subprocess.Popen[bytes], seconds: float) -> dict[int, int]:
    """KiB by seconds of running at 250 Hz."""
    found = {0: resident(process)}
    for i in range(round(seconds / 30)):
        driver.drive(250, 30.0)
        found[30 * (i + 1)] = resident(process)
    return found


def show(by_rate: dict) -> None:
    """A table of both, and of ours over the floor's."""
    table = Table("Hz", "", "CPU us/message", "p50 us", "p99 us", "max us", "lost")
    for rate, figures in by_rate.items():
        for name, row in figures.items():
            digits = 2 if "/" in name else 0
            table.add_row(str(rate), name, *(f"{row[key]:.{digits}f}" for key in SHOWN), f"{row.get('lost', 0):.0f}")
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
