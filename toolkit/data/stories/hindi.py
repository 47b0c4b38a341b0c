"""All kinds of Hindi stories."""

from __future__ import annotations

from toolkit.data.stories import (
    hindi_earning,
    hindi_groups,
    hindi_motion,
    hindi_owning,
    hindi_parts,
    hindi_prices,
    hindi_shapes,
)
from toolkit.data.stories.hindi_words import TONGUE

THEMES = (hindi_owning, hindi_groups, hindi_prices, hindi_earning, hindi_shapes, hindi_motion, hindi_parts)
KINDS = tuple(kind for theme in THEMES for kind in theme.KINDS.all)

__all__ = ["KINDS", "TONGUE"]
