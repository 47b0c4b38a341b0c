"""Confidence, calibration, acquisition, stopping: pure functions on arrays."""
