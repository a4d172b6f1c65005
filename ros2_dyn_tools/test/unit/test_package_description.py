# SPDX-License-Identifier: Apache-2.0
"""What the packages say of themselves: what they depend on is what they import, and all versions are one."""

import ast
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from rooms import CORE, PACKAGES, TOOLS, TOP, files_of, imports, room_of

REQUIREMENTS = TOP / "scripts" / "requirements"
OURS = {package.name for package in PACKAGES}
KEYS = {
    "matplotlib": "python3-matplotlib",
    "numpy": "python3-numpy",
    "rich": "python3-rich",
    "scipy": "python3-scipy",
    "urdf_parser_py": "urdfdom_py",
    "yaml": "python3-yaml",
}
"""Keys of rosdep, by the module."""
DISTRIBUTIONS = {"coal": "pin", "pinocchio": "pin", "yaml": "pyyaml", "urdf_parser_py": "urdf-parser-py"}
"""Names in the Python package index, by the module, where they differ. Pinocchio brings Coal."""
NOT_IMPORTED = {CORE: {"robot_state_publisher", "ros2launch"}, TOOLS: set()}
"""What launch files start, and what starts them."""
each_package = pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)


def depends(package: Path, kind: str) -> set[str]:
    return {element.text for element in ElementTree.parse(package.parent / "package.xml").getroot().iter(kind)}


def imported(package: Path) -> set[str]:
    """Modules of others that a package or its launch files import."""
    files = [*files_of(package), *(package.parent / "launch").glob("*.py")]
    found = {module.split(".")[0] for file in files for module in imports(file)}
    return found - set(sys.stdlib_module_names) - {package.name}


def setup_arguments(package: Path) -> dict[str, ast.expr]:
    (call,) = (
        node
        for node in ast.walk(ast.parse((package.parent / "setup.py").read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "setup"
    )
    return {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}


def for_pip(package: Path, *arguments: str) -> set[str]:
    """What pip installs with a package (`install_requires`), or with one of its extras (`extras_require`)."""
    found = [ast.literal_eval(setup_arguments(package)[argument]) for argument in arguments]
    lists = [names for value in found for names in (value.values() if isinstance(value, dict) else [value])]
    return {re.split("[<>=~]", name)[0] for names in lists for name in names}


@each_package
def test_every_import_is_a_dependency_or_an_extra(package):
    """What pip always installs is a dependency."""
    needed = depends(package, "exec_depend")
    extras = for_pip(package, "extras_require") - for_pip(package, "install_requires")
    unknown = {
        module
        for module in imported(package)
        if KEYS.get(module, module) not in needed and DISTRIBUTIONS.get(module, module) not in extras
    }
    assert unknown == set()


@each_package
def test_every_import_of_the_library_is_installed_by_pip(package):
    files = [file for file in files_of(package) if room_of(file).split(".")[1] not in ("ros", "demos")]
    modules = {module.split(".")[0] for file in files for module in imports(file)} - set(sys.stdlib_module_names)
    installed = for_pip(package, "install_requires", "extras_require") | {package.name}
    assert {module for module in modules if DISTRIBUTIONS.get(module, module) not in installed} == set()


@each_package
def test_every_dependency_is_used(package):
    used = {KEYS.get(module, module) for module in imported(package)}
    assert depends(package, "exec_depend") - used == NOT_IMPORTED[package]


def test_the_script_installs_what_pip_does():
    """Beside ROS 2: extras that only some tests need are among the tests' requirements."""
    lines = "\n".join((REQUIREMENTS / f"{name}.txt").read_text() for name in ("run", "tests", "build"))
    installed = set(re.findall(r"^[a-z][\w-]*", lines, re.MULTILINE))
    by_dependency = {"pyyaml"}  # of colcon
    wanted = {name for package in PACKAGES for name in for_pip(package, "install_requires", "extras_require")}
    assert wanted - installed - OURS == by_dependency


def test_versions_are_one():
    """Tools that raise a version want it in each of these files."""
    versions = {package.name: ast.literal_eval(setup_arguments(package)["version"]) for package in PACKAGES}
    for name in (*OURS, "ros2_dyn_interfaces"):
        versions[f"{name}/package.xml"] = ElementTree.parse(TOP / name / "package.xml").getroot().findtext("version")
        versions[f"{name}/CHANGELOG"] = newest_version(TOP / name / "CHANGELOG.rst")
    controllers = ElementTree.parse(TOP / "ros2_dyn_controllers" / "package.xml")  # which has no release yet
    versions["ros2_dyn_controllers/package.xml"] = controllers.getroot().findtext("version")
    versions["CITATION.cff"] = re.findall(r"^version: (.+)$", (TOP / "CITATION.cff").read_text(), re.MULTILINE)[0]
    assert len(set(versions.values())) == 1, versions


def newest_version(changelog: Path) -> str:
    """Return the first version that a changelog has a heading for; "Forthcoming" comes before it."""
    headings = re.findall(r"^(\S+) \(\d{4}-\d\d-\d\d\)\n-+$", changelog.read_text(), re.MULTILINE)
    assert headings == sorted(headings, key=lambda version: [int(n) for n in version.split(".")], reverse=True)
    return headings[0]


def test_linters_are_pinned_alike():
    """Before a commit and in `make lint`."""
    pins = re.findall(r"ruff==[\d.]+", (TOP / ".pre-commit-config.yaml").read_text())
    assert pins
    assert set(pins) == set(re.findall(r"ruff==[\d.]+", (REQUIREMENTS / "tests.txt").read_text()))
