# SPDX-License-Identifier: Apache-2.0
"""The scripts and notebooks of `examples/` run, and their results are those of theory."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from robots import example_robots
from ros2_dyn.model import RobotModel

EXAMPLES = Path(__file__).parents[3] / "examples"
NOTEBOOKS = EXAMPLES / "notebooks"
pytestmark = pytest.mark.skipif(not EXAMPLES.is_dir(), reason="the package is tested outside of a checkout")
LONGEST = 60
"""Lines of an example, at most."""


def example(name: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the module of an example."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    (path,) = EXAMPLES.glob(f"*_{name}.py")
    spec = importlib.util.spec_from_file_location(f"example_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def no_errors(result: dict[str, Any]) -> None:
    for name, error in result.items():
        assert_allclose(error, 0, atol=1e-9, err_msg=name)


def friction_found(model: RobotModel) -> None:
    for joint in model.joints:
        found = joint.dynamics
        assert_allclose([found.viscous, found.coulomb, found.armature], [4.0, 2.5, 0.8], rtol=0.05)


def payload_found(estimate: Any) -> None:
    assert_allclose([estimate.mass, *estimate.com], [2.0, 0.03, -0.02, 0.08], atol=0.03)


def collision_found(result: dict[str, Any]) -> None:
    assert abs(result["delay"] - result["theory"]) <= 0.001  # one state
    assert_allclose(result["wrench"], [0, 0, -30, 0, 0, 0], atol=0.1)


def parameters_found(result: dict[str, Any]) -> None:
    assert result["count"] == 36  # of a six-axis arm on a level floor
    assert_allclose(result["predicted"], 0, atol=5e-3)
    assert_allclose(result["theta"], 0, atol=5e-4)


def fastest(result: dict[str, Any]) -> None:
    assert_allclose(result["alone"], 2 * np.sqrt(1.5 * 2.0 / 10.0), rtol=2e-3)
    assert_allclose(result["loaded"], 2 * np.sqrt(1.5 * 8.0 / 10.0), rtol=2e-3)


def energy_decays(result: dict[str, Any]) -> None:
    assert_allclose(result["energy"], result["theory"], rtol=1e-4)


CHECKS: dict[str, Callable[[Any], None]] = {
    "two_links": no_errors,
    "inverse_dynamics": no_errors,
    "statics": no_errors,
    "kernels": no_errors,
    "payload": payload_found,
    "friction": friction_found,
    "collision": collision_found,
    "identification": parameters_found,
    "fastest_motion": fastest,
    "gravity_compensation": energy_decays,
}
"""Examples, and what must hold of what they return."""


def test_every_example_has_a_check_a_docstring_and_few_lines():
    scripts = sorted(EXAMPLES.glob("[0-9]*_*.py"))
    assert [path.stem.split("_", 1)[1] for path in scripts] == list(CHECKS)
    for path in [*scripts, *EXAMPLES.glob("*/*.py")]:
        text = path.read_text(encoding="utf-8")
        assert "You learn" in text.split('"""')[1], path.name
        assert len(text.splitlines()) <= (LONGEST if path in scripts else 80), path.name


@pytest.mark.parametrize("name", CHECKS)
def test_example_runs_and_its_result_is_that_of_theory(name, monkeypatch, capsys):
    if name == "fastest_motion":
        pytest.importorskip("toppra", reason="toppra, which finds the timing, is not installed")
    monkeypatch.setattr(sys, "argv", [f"{name}.py"])
    CHECKS[name](example(name, monkeypatch).main())
    assert capsys.readouterr().out


@pytest.mark.parametrize("name", ["inverse_dynamics", "kernels"])
def test_example_runs_with_the_arm_of_another_urdf(name, monkeypatch):
    panda = example_robots() / "panda_description/urdf/panda.urdf"
    if not panda.is_file():
        pytest.skip("example-robot-data is not installed")
    no_errors(example(name, monkeypatch).main(RobotModel.from_urdf_file(panda)))


@pytest.mark.parametrize("notebook", ["dynamics_of_an_arm", "collisions_from_efforts"])
def test_notebook_runs_without_error_and_is_kept_without_outputs(notebook, monkeypatch):
    """Its own assertions hold. Cells run in this process: a kernel would take longer than they do."""
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib, which draws the notebooks' pictures, is missing")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    cells = json.loads((NOTEBOOKS / f"{notebook}.ipynb").read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert not any(cell["outputs"] or cell["execution_count"] for cell in code)
    monkeypatch.chdir(NOTEBOOKS)
    names: dict[str, Any] = {}
    for k, cell in enumerate(code):
        exec(compile("".join(cell["source"]), f"{notebook}, cell {k + 1}", "exec"), names)
    assert pyplot.get_fignums()
    assert sum("assert " in "".join(cell["source"]) for cell in code) >= 1
    pyplot.close("all")
