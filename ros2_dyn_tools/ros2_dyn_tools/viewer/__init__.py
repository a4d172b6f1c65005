# SPDX-License-Identifier: Apache-2.0
"""A page in the browser: the moving robot, its wrenches and efforts, live or from a file. Needs viser."""
