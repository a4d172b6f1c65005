"""A robot to talk to: a simulated arm, and its node."""
