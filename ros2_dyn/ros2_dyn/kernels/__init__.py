# SPDX-License-Identifier: Apache-2.0
"""Fast kernels: the functions of `ros2_dyn.dynamics`, traced once per robot into straight-line code."""

from ros2_dyn.kernels.kernel import Backend as Backend
from ros2_dyn.kernels.kernel import Kernel as Kernel
from ros2_dyn.kernels.kernel import compile_kernel as compile_kernel
