"""Stories as a problems table in a file, of any number, in flat memory."""

from collections.abc import Callable
from itertools import islice
from pathlib import Path

import polars as pl

from toolkit.data.growing import growing_table
from toolkit.data.schema import PROBLEMS
from toolkit.data.stories import SPLITS, StorySplits, tell_stories

PIECE = 8_192  # stories that are held at a time


def write_story_table(
    lang: str, count: int, seed: int, out: Path, advance: Callable[[int], object] = lambda count: None
) -> int:
    """Write `count` stories, with their splits, to a file; return how many there are."""
    stories, splits = tell_stories(lang, count, seed), StorySplits()
    with growing_table(out) as growing:
        while rows := [splits.row(story) for story in islice(stories, PIECE)]:
            growing.add(pl.DataFrame(rows, schema=PROBLEMS))
            advance(len(rows))
        tests = pl.Series(splits.tests(seed))
        growing.set_column("split", pl.Series(SPLITS).gather(tests.cast(pl.UInt32)))
        growing.write({out: None})
    return len(tests)
