# SPDX-License-Identifier: Apache-2.0
"""The passport of an arm: what its efforts mean, how well its model explains them, and which force is felt."""
