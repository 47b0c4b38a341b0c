"""Ray Tune sweeps over configurations."""
