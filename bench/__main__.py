# SPDX-License-Identifier: Apache-2.0
"""`make bench`: ours and the peers side by side in one run, as times and ratios, in a table and as JSON."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from pathlib import Path

import numpy as np
import pinocchio as pin
from matplotlib.figure import Figure
from peers import MOTION, QUANTITIES, Function, functions, jax_kernel
from rich.console import Console
from rich.table import Table
from timing import interleaved

from robots import chain, robots
from ros2_dyn.kernels import compile_kernel
from ros2_dyn.model import RobotModel

COLUMNS = ("ours: c", "ours: python", "ours: textbook", "ours: jax", "Pinocchio", "MuJoCo")
SIZES = (5, 10, 20, 40, 70, 100)
BATCH = 10_000


def main() -> None:
    """Measure all, print it, and write it to the folder given as argument."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    console = Console(width=180)
    calls = single_calls(console)
    report = {
        "batch_us_per_state": batches(),
        "first_result_s": first_results(),
        "growth_exponent": growth(folder / "growth.png"),
    }
    (folder / "bench.json").write_text(json.dumps(report | {"us_per_call": calls}, indent=2), encoding="utf-8")
    print(json.dumps(report))


def single_calls(console: Console) -> dict[str, dict[str, dict[str, float]]]:
    """Microseconds per call from Python, by robot, quantity and library."""
    table = Table("robot", "quantity", *(f"{column}\nus (ratio)" for column in COLUMNS))
    found: dict[str, dict[str, dict[str, float]]] = {}
    for robot, xml in robots().items():
        found[robot] = {}
        for quantity in QUANTITIES:
            candidates = functions(xml, robot, quantity)
            check(candidates, quantity)
            times = found[robot][quantity] = interleaved(candidates)
            cells = (
                f"{short(times[c])} ({short(times[c] / times['Pinocchio'])})" if c in times else "" for c in COLUMNS
            )
            table.add_row(robot, quantity, *cells)
    console.print("us per call from Python; in brackets, of Pinocchio's time")
    console.print(table)
    return found


def short(value: float) -> str:
    """Three digits, and no exponent."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def check(candidates: dict[str, Function], quantity: str) -> None:
    """No time is taken of a function that computes something else."""
    if quantity in ("RNEA", "mass matrix", "forward dynamics", "regressor"):
        results = {name: function() for name, function in candidates.items()}
        numbers = {name: np.ravel(r[0] if isinstance(r, tuple) else r) for name, r in results.items()}
        theirs = numbers["Pinocchio"]
        for name, values in numbers.items():
            np.testing.assert_allclose(values, theirs, rtol=0, atol=1e-6 * np.max(np.abs(theirs)), err_msg=name)


def batches() -> dict[str, float]:
    """Microseconds a state of inverse dynamics over a batch: ours, and Pinocchio in a loop."""
    xml = robots()["6-axis"]
    model, theirs = RobotModel.from_urdf(xml), pin.buildModelFromXML(xml)
    data = theirs.createData()
    q, qd, qdd = states = np.random.default_rng(1).uniform(-1, 1, size=(3, BATCH, model.n))
    kernels = {
        "ours: numpy": compile_kernel(model, ("tau",), "numpy", MOTION),
        "ours: c": compile_kernel(model, ("tau",), "c", MOTION, threads=1),
        "ours: c, threads": compile_kernel(model, ("tau",), "c", MOTION),
    }

    def loop() -> None:
        for i in range(BATCH):
            pin.rnea(theirs, data, q[i], qd[i], qdd[i])

    candidates: dict[str, Function] = {
        name: lambda kernel=kernel: kernel(q, qd, qdd) for name, kernel in kernels.items()
    }
    candidates |= jax_kernel(model, states) | {"Pinocchio, loop": loop}
    return {name: value / BATCH for name, value in interleaved(candidates, 7).items()}


FIRST_RESULT = """
import sys, time
from ros2_dyn.kernels import compile_kernel
from ros2_dyn.model import RobotModel
started = time.perf_counter()
compile_kernel(RobotModel.from_urdf(sys.stdin.read()), ("tau",), sys.argv[1], ("q", "qd", "qdd"))([0.1] * 7)
print(time.perf_counter() - started)
"""


def first_results() -> dict[str, float]:
    """Seconds from URDF text to the first effort of the seven-axis arm, each time in a new process.

    The compiled kernel is in its cache by now.
    """
    xml = robots()["7-axis"]

    def seconds(backend: str) -> float:
        command = [sys.executable, "-c", FIRST_RESULT, backend]
        return float(subprocess.run(command, input=xml, text=True, check=True, capture_output=True).stdout)

    return {backend: statistics.median(seconds(backend) for _ in range(5)) for backend in ("python", "c")}


def growth(picture: Path) -> dict[str, float]:
    """Exponent of RNEA's cost from 10 joints on, fitted to the logarithms; and a plot from 5."""
    times: dict[str, list[float]] = {}
    for n in SIZES:
        for name, value in interleaved(functions(chain(n, seed=n), f"{n}", "RNEA")).items():
            times.setdefault(name, []).append(value)
    figure = Figure(figsize=(7.5, 4), layout="constrained")
    axes = figure.subplots()
    for name, values in sorted(times.items(), key=lambda item: -item[1][-1]):
        axes.loglog(SIZES, values, "o-", label=name)
    axes.loglog(SIZES, [0.02 * size for size in SIZES], ":", color="gray", label="in proportion")
    axes.set(xlabel="joints", ylabel="inverse dynamics, µs a call from Python", xticks=SIZES, xticklabels=SIZES)
    axes.minorticks_off()
    figure.legend(loc="outside right center")
    figure.savefig(picture, dpi=120)
    fit = slice(SIZES.index(10), None)
    return {name: float(np.polyfit(np.log(SIZES[fit]), np.log(v[fit]), 1)[0]) for name, v in times.items()}


if __name__ == "__main__":
    main()
