"""All kinds of English stories."""

from __future__ import annotations

from toolkit.data.stories import (
    english_ages,
    english_comparing,
    english_earning,
    english_groups,
    english_motion,
    english_owning,
    english_packing,
    english_parts,
    english_prices,
    english_shapes,
)
from toolkit.data.stories.english_words import TONGUE

THEMES = (
    english_owning,
    english_comparing,
    english_groups,
    english_packing,
    english_prices,
    english_earning,
    english_shapes,
    english_motion,
    english_ages,
    english_parts,
)
KINDS = tuple(kind for theme in THEMES for kind in theme.KINDS.all)

__all__ = ["KINDS", "TONGUE"]
