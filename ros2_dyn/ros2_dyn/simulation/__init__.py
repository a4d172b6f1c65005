"""The simulated world: an arm, its controllers, contacts, sensors, channels and faults, in virtual time."""
