# SPDX-License-Identifier: Apache-2.0
"""`make bench-view`: what the node costs with a page in a browser and without, in turns in one run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import rclpy

sys.path.insert(0, str(Path(__file__).parents[1] / "node"))
from driver import Driver
from ros2_dyn.model import RobotModel
from ros2_dyn.ros.localhost import use_localhost_only

URDF = Path(__file__).parents[2] / "ros2_dyn" / "config" / "mock_arm.urdf"
RATE, TURN = 250.0, 4.0
NAMESPACE = "viewed"
BROWSER = next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), "")
GRAPHICS = ["--headless", "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]


def main() -> None:
    """Measure and print as JSON; the first argument is the number of rounds."""
    rounds = int(sys.argv[1])
    use_localhost_only()
    os.environ["ROS_DOMAIN_ID"] = "94"
    rclpy.init()
    model = RobotModel.from_urdf_file(URDF)
    arguments = ["-r", f"__ns:=/{NAMESPACE}", "-p", f"urdf_file:={URDF}"]
    node = subprocess.Popen([sys.executable, "-m", "ros2_dyn.ros.dynamics_node", "--ros-args", *arguments])
    found: dict[str, list[float]] = {"without": [], "with": [], "viewer": []}
    lost = {"without": 0, "with": 0}
    try:
        driver = Driver(NAMESPACE, model, detecting=False)
        driver.wait()
        driver.drive(RATE, TURN)
        for _ in range(rounds):
            turn(driver, node, found["without"], lost, "without")
            page = Page()
            turn(driver, node, found["with"], lost, "with", page=page)
            found["viewer"].append(page.cpu)
            page.close()
    finally:
        node.kill()
        node.wait()
    ratios = np.array(found["with"]) / np.array(found["without"])
    medians = {name: float(np.median(values)) for name, values in found.items()}
    report = {
        "node_cpu_us_per_message": {name: round(medians[name], 1) for name in ("without", "with")},
        "ratio": round(float(np.median(ratios)), 3),
        "ratio_quartiles": [round(x, 3) for x in np.percentile(ratios, [25, 75]).tolist()],
        "lost": lost,
        "viewer_share_of_a_core": round(medians["viewer"], 3),
        "messages_a_turn": round(RATE * TURN),
        "rounds": rounds,
    }
    print(json.dumps(report))


class Page:
    """A page with a browser that shows it. The browser yields to the others: it draws without a graphics card."""

    def __init__(self) -> None:
        self._printed = tempfile.TemporaryFile("w+")  # noqa: SIM115
        names = ["--node", f"/{NAMESPACE}/dynamics", "--topic", f"/{NAMESPACE}/joint_states"]
        command = [sys.executable, "-u", "-m", "ros2_dyn", "view", *names]
        self.process = subprocess.Popen(command, stdout=self._printed, stderr=subprocess.STDOUT)
        self._browser: subprocess.Popen[bytes] | None = None
        self._profile = tempfile.TemporaryDirectory()
        self.cpu = 0.0
        while not (found := [line for line in self._lines() if line.startswith("page: ")]):
            time.sleep(0.1)
        if BROWSER:
            url = found[0].split()[1]
            command = [
                "nice",
                "-n",
                "19",
                BROWSER,
                *GRAPHICS,
                f"--user-data-dir={self._profile.name}",
                "--remote-debugging-port=0",
                url,
            ]
            quiet = subprocess.DEVNULL
            self._browser = subprocess.Popen(command, stdout=quiet, stderr=quiet, start_new_session=True)

    def _lines(self) -> list[str]:
        with open(self._printed.fileno(), encoding="utf-8", closefd=False) as file:
            file.seek(0)
            return file.read().splitlines()

    def close(self) -> None:
        """End both."""
        for process in (self._browser, self.process):
            if process is not None:
                process.terminate()
                process.wait()
        self._profile.cleanup()


def turn(
    driver: Driver,
    node: subprocess.Popen[bytes],
    found: list[float],
    lost: dict[str, int],
    name: str,
    *,
    page: Page | None = None,
) -> None:
    """Drive the node for a turn, once the page is there; add the CPU time of a message, us."""
    driver.drive(RATE, 8.0 if page is not None else 2.0)  # the page finds the node and its parameters meanwhile
    before, shown, started = cpu(node), cpu(page.process) if page else 0.0, time.monotonic()
    sent, latencies = driver.drive(RATE, TURN)
    found.append(1e6 * (cpu(node) - before) / max(1, len(latencies)))
    lost[name] += sent - len(latencies)
    if page is not None:
        page.cpu = (cpu(page.process) - shown) / (time.monotonic() - started)


def cpu(process: subprocess.Popen[bytes]) -> float:
    """Seconds of processor time that a process has used in all its threads."""
    tasks = Path(f"/proc/{process.pid}/task").glob("*/schedstat")
    return 1e-9 * sum(int(task.read_text(encoding="ascii").split()[0]) for task in tasks)


if __name__ == "__main__":
    main()
