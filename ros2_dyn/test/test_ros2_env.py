"""scripts/ros2_env: one clear line for whatever is missing, before anything is downloaded."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"
TOOLS = "bash cat cut dirname env find flock grep head mkdir rm sed sha256sum sort tee touch xargs"

pytestmark = pytest.mark.skipif(
    not SCRIPTS.is_dir(), reason="the package is tested outside of a checkout of the repository, without scripts/"
)


class Machine:
    """A checkout in a path with a space, on a machine that has what a test gives it."""

    def __init__(self, folder: Path) -> None:
        self.checkout = folder / "my robots" / "ros2_dyn"
        shutil.copytree(SCRIPTS, self.checkout / "scripts")
        self.bin = folder / "bin"
        self.bin.mkdir()
        for tool in TOOLS.split():
            (self.bin / tool).symlink_to(str(shutil.which(tool)))
        self.environment = {"PATH": str(self.bin), "HOME": str(folder / "home")}
        self.give("c++", "true")

    def give(self, command: str, script: str) -> None:
        """Put a command on the PATH."""
        path = self.bin / command
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def give_python(self, version="supported", venv="venv", headers="True", wheels="True") -> None:
        """A Python that says this of itself."""
        self.give("python3", f"printf '%s\\n' '{version}' '{venv}' {headers} {wheels} '3.11.0 /usr'")

    def run(self, *arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        """Run the script."""
        return subprocess.run(
            [self.checkout / "scripts" / "ros2_env", *arguments],
            env=self.environment | environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )


@pytest.fixture
def machine(tmp_path) -> Machine:
    """A machine with a compiler and without a Python."""
    return Machine(tmp_path)


def assert_one_line(result, text):
    assert result.returncode == 1
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert text in result.stderr


def test_usage(machine):
    """Asked for, it is the answer; without a command, it is an error."""
    assert machine.run("--help").stdout.startswith("usage: scripts/ros2_env [--with-tests] COMMAND")
    nothing = machine.run()
    assert (nothing.returncode, nothing.stdout) == (2, "")
    assert nothing.stderr.startswith("usage:")


def test_an_unknown_distribution_is_named(machine):
    """With those that there are."""
    result = machine.run("true", ROS2_DYN_DISTRO="melodic")
    assert_one_line(result, "no wheels of ROS 2 'melodic'; set ROS2_DYN_DISTRO to jazzy or kilted")


def test_a_missing_or_unsupported_python_is_named(machine):
    """With what is supported."""
    assert_one_line(machine.run("true"), "no 'python3' here; install python3 (CPython 3.10 to 3.14)")
    machine.give_python(version="CPython 3.9.18")
    assert_one_line(machine.run("true"), "python3 is CPython 3.9.18; set PYTHON to a CPython 3.10 to 3.14")
    machine.give("python3", "exit 1")
    assert_one_line(machine.run("true"), "python3' does not run")


def test_all_that_is_missing_is_named_at_once(machine):
    """So that one call of the package manager is enough."""
    (machine.bin / "c++").unlink()
    machine.give_python(venv="no venv", headers="False")
    result = machine.run("true")
    assert_one_line(result, "please install python3-venv, python3-dev, g++ (a C++ compiler)")
    machine.give("c++", "true")
    machine.give_python(headers="False")
    assert machine.run("true").stderr == "ros2_env: please install python3-dev\n"


def test_a_machine_without_wheels_is_told_so(machine):
    """Another processor, another system, an old C library."""
    machine.give_python(wheels="False")
    assert_one_line(machine.run("true"), "for Linux on x86_64 with glibc 2.28 or later only; source a distribution")


def test_no_network_is_one_line_and_nothing_is_written_elsewhere(machine, tmp_path):
    """Pip's own account is kept in a file that the line names."""
    python = shutil.which("python3")
    (machine.bin / "python3").symlink_to(os.path.realpath(str(python)))
    offline = {name: "" for name in os.environ if name.startswith("PIP_")}
    offline |= {"PIP_INDEX_URL": "http://127.0.0.1:9/", "PIP_CONFIG_FILE": os.devnull, "PIP_NO_CACHE_DIR": "1"}
    before = {path for path in tmp_path.rglob("*") if ".ros2" not in path.parts}
    result = machine.run("true", **offline)
    assert result.returncode == 1
    step, error = result.stderr.splitlines()
    assert "installing ROS 2 jazzy from wheels into .ros2/jazzy" in step
    assert "the Python package index cannot be reached; is there a network? (details: " in error
    assert Path(error.split("details: ")[1].rstrip(")")).is_file()
    assert {path for path in tmp_path.rglob("*") if ".ros2" not in path.parts} == before
    assert not (machine.checkout / ".ros2" / "jazzy" / "environment").exists()  # the next run begins anew
