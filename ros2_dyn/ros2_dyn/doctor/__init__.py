"""What is wrong between a robot, its description and its driver, told from a recorded motion."""
