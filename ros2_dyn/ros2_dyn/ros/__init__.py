# SPDX-License-Identifier: Apache-2.0
"""The node: messages to arrays by name, one kernel call, arrays to messages."""
