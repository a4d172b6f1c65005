# SPDX-License-Identifier: Apache-2.0
"""`make bench-gpu`: batches of inverse dynamics and mass matrices on JAX's device, beside frax and bard if there."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from timing import interleaved

from robots import robots
from ros2_dyn import dynamics
from ros2_dyn.kernels import compile_kernel
from ros2_dyn.model import RobotModel

BATCHES = (4096, 1_000_000)
QUANTITIES = {"inverse dynamics": (("tau",), ("q", "qd", "qdd")), "mass matrix": (("mass_matrix",), ("q",))}
"""Outputs and inputs of our kernels."""
Function = Callable[[], Any]


def main() -> None:
    """Measure all, print it, and write it to the folder given as argument."""
    report: dict[str, Any] = {"device": jax.devices()[0].device_kind, "jax": jax.__version__, "samples_per_s": {}}
    print(report["device"])
    for robot in ("6-axis", "7-axis"):
        xml = robots()[robot]
        for precision in ("float32", "float64"):
            jax.config.update("jax_enable_x64", precision == "float64")
            for batch in BATCHES:
                for quantity in QUANTITIES:
                    key = f"{robot}, {quantity}, {precision}, {batch}"
                    report["samples_per_s"][key] = measured(xml, quantity, precision, batch)
                    print(key, {name: f"{rate:.3g}" for name, rate in report["samples_per_s"][key].items()}, flush=True)
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "bench_gpu.json").write_text(json.dumps(report, indent=2), encoding="utf-8")


def measured(xml: str, quantity: str, precision: str, batch: int) -> dict[str, float]:
    """Samples a second of a quantity, by library, in turns; each is compared with the textbook first."""
    model = RobotModel.from_urdf(xml)
    state = np.random.default_rng(1).uniform(-1, 1, size=(3, batch, model.n)).astype(precision)
    q, qd, qdd = (x[:5].astype(float) for x in state)
    book = dynamics.rnea(model, q, qd, qdd) if quantity == "inverse dynamics" else dynamics.mass_matrix(model, q)
    candidates: dict[str, Function] = {}
    for name, make in LIBRARIES.items():
        if find_spec(name) is None:
            continue
        try:
            function = make(xml, quantity, state)
            rows = function()[:5]
        except Exception as error:  # a peer that fails is left out
            print(f"{name}: {error!r}")
            continue
        numbers = np.asarray(rows.cpu() if hasattr(rows, "cpu") else rows, dtype=float)
        difference = np.abs(numbers - book).max() / np.abs(book).max()
        if difference < (1e-3 if precision == "float32" else 1e-8):
            candidates[name] = function
        else:
            print(f"{name} computes something else: {difference:.2g} of the largest")
    return {name: 1e6 * batch / duration for name, duration in interleaved(candidates).items()}


def ours(xml: str, quantity: str, state: Any) -> Function:
    """Our kernel, as a user calls it, on arrays that are on the device."""
    outputs, inputs = QUANTITIES[quantity]
    kernel, arrays = compile_kernel(RobotModel.from_urdf(xml), outputs, "jax", inputs), jax.device_put(list(state))
    call = jax.jit(lambda *x: kernel(*x)[0])
    used = arrays[: len(inputs)]
    return lambda: call(*used).block_until_ready()


def frax(xml: str, quantity: str, state: Any) -> Function:
    """Frax, mapped over the batch and compiled."""
    from frax import Manipulator

    inertia = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    base = f'<link name="l0"><inertial><mass value="1"/>{inertia}</inertial></link>'
    with tempfile.NamedTemporaryFile("w", suffix=".urdf") as file:
        file.write(xml.replace('<link name="l0"/>', base))  # it wants one, which changes nothing
        file.flush()
        arm = Manipulator(file.name)
    up = jnp.array([0.0, 0.0, 9.81, 0.0, 0.0, 0.0])
    q, qd, qdd = jax.device_put(list(state))
    if quantity == "inverse dynamics":
        call = jax.jit(jax.vmap(lambda q, qd, qdd: arm.rnea(q, qd, qdd, up, None)))
        return lambda: call(q, qd, qdd).block_until_ready()
    mass = jax.jit(jax.vmap(arm.mass_matrix))
    return lambda: mass(q).block_until_ready()


def bard(xml: str, quantity: str, state: Any) -> Function:
    """Bard, on the GPU where PyTorch has one."""
    import bard as library
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    with tempfile.NamedTemporaryFile("w", suffix=".urdf") as file:
        file.write(xml)
        file.flush()
        model = library.build_model_from_urdf(file.name)
    q, qd, qdd = (torch.as_tensor(x, device=device) for x in state)
    model.to(dtype=q.dtype, device=device)
    data = library.create_data(model, max_batch_size=len(q))
    down = torch.tensor([0.0, 0.0, -9.81], dtype=q.dtype, device=device)

    def call() -> Any:
        library.update_kinematics(model, data, q, qd)
        if quantity == "inverse dynamics":
            result = library.rnea(model, data, qdd, gravity=down)
        else:
            result = library.crba(model, data)
        if device == "cuda":
            torch.cuda.synchronize()
        return result

    return call


LIBRARIES = {"ros2_dyn": ours, "frax": frax, "bard": bard}

if __name__ == "__main__":
    main()
