# SPDX-License-Identifier: Apache-2.0
"""Commands of the tools; `ros2_dyn` finds them by their entry points."""
