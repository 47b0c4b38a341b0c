"""WARM and WARM-S (Chatterjee et al. 2022), the method of the paper."""

from toolkit.methods.warm.method import Warm, WarmNoBeam

__all__ = ["Warm", "WarmNoBeam"]
