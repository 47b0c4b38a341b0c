"""A data set as Hugging Face has it: Parquet by split, and a card that says what it is.

    README.md                              the card: facts in YAML for programs, then text for people
    data/train-00000-of-00001.parquet      one file for each split

`datasets.load_dataset(FOLDER)` reads it, and so does a page of the Hub, as
https://huggingface.co/docs/hub/datasets-cards and datasets-manual-configuration describe it. Nothing that
somebody else wrote is on the card, so no problem set can write on it.
"""

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl
import yaml

from toolkit.data.export import EQUATIONS, by_split
from toolkit.storage.folder import new_folder
from toolkit.storage.tables import guarded

_TYPES = {pl.String(): "string", pl.Float64(): "float64"}
_COLUMNS = {
    "id": "The id of the problem in the source data.",
    "text": "The problem.",
    "answer": "Its answer in the source data.",
    "equation": "An equation over the numbers of the text.",
    "lang": "The language of the text (ISO 639).",
    "split": "The split that the row belongs to.",
    "template": "The equation over N0, N1, … (the numbers of the text in reading order) and constants.",
    "posterior": "How sure the equation is, from 0 to 1. It is 1 for gold equations and those of annotators.",
    "origin": "Where the equation is from: gold, annotator, or the method that found it.",
}
_ORIGINS = {
    "gold": "gold: an equation of the source data that gives the answer",
    "annotator": "annotator: what annotators agreed on, checked against the answer",
    "generated": "generated: found from the answer",
}
_KNOWN = {"gold": "gold", "annotator": "annotator"}  # other origins are methods: generated
_THOUSANDS = ("1K", "10K", "100K", "1M", "10M", "100M", "1B", "10B", "100B", "1T")
_CARD = """\
# Math word problems with equations

{rows:,} math word problems, each with its answer and one equation. The source data has {problems:,} problems;
those without an equation are left out. Written by warmkit {version}.

```python
from datasets import load_dataset

problems = load_dataset("the folder of this card, or its name on the Hub")
```

## Columns

{columns}

## How the equations were made

{origins}
{generated}
## Licence

The licence is that of the source data, which warmkit does not know. Fill it in here, and as `license` at the
top of this card, before you share the data set.
"""
_GENERATED = """
Generated equations were searched for with the answer known: each reaches it, but some do so by luck. Their
`posterior` is the share of their class (all equations that mean the same) among the equations found for the
problem. Its median is {median:.2f} and the lowest is {lowest:.2f}; what is below {threshold:g} was left out.
"""


def write_hub(equations: pl.DataFrame, folder: Path, problems: int, threshold: float = 0.0) -> dict[str, int]:
    """Write a table of the schema `EQUATIONS` as such a folder. Returns the problems per split.

    `problems` is how many the source has, `threshold` the lowest posterior that was accepted.
    """
    parts = by_split(equations)
    with new_folder(folder) as built:
        (built / "data").mkdir()
        sizes = {}
        for name, part in parts.items():
            file = built / "data" / f"{name}-00000-of-00001.parquet"
            with guarded(folder, "written"):
                part.write_parquet(file)
            sizes[name] = file.stat().st_size
        card = f"---\n{_metadata(parts, sizes)}---\n\n{_text(parts, problems, threshold)}"
        (built / "README.md").write_text(card, encoding="utf-8")
    return {name: len(part) for name, part in parts.items()}


def _metadata(parts: Mapping[str, pl.DataFrame], sizes: Mapping[str, int]) -> str:
    """The facts of the card as YAML."""
    langs = {lang.partition("-")[0] for part in parts.values() for lang in part["lang"].unique()}
    splits = [
        {"name": name, "num_bytes": int(part.estimated_size()), "num_examples": len(part)}
        for name, part in parts.items()
    ]
    facts: dict[str, Any] = {
        "pretty_name": "Math word problems with equations",
        "language": sorted(langs),
        "license": "unknown",
        "task_categories": ["question-answering", "text-generation"],
        "tags": ["math", "math-word-problems", "equations", "warmkit"],
        "size_categories": [_size_category(sum(map(len, parts.values())))],
        "configs": [
            {
                "config_name": "default",
                "data_files": [{"split": name, "path": f"data/{name}-*"} for name in parts],
            }
        ],
        "dataset_info": {
            "features": [{"name": name, "dtype": _TYPES[kind]} for name, kind in EQUATIONS.items()],
            "splits": splits,
            "download_size": sum(sizes.values()),
            "dataset_size": sum(split["num_bytes"] for split in splits),
        },
    }
    return yaml.safe_dump(facts, sort_keys=False, allow_unicode=True)


def _size_category(rows: int) -> str:
    """n<1K, 1K<n<10K and so on, as the Hub writes them."""
    digits = len(str(rows))
    return "n<1K" if digits < 4 else f"{_THOUSANDS[digits - 4]}<n<{_THOUSANDS[digits - 3]}"


def _text(parts: Mapping[str, pl.DataFrame], problems: int, threshold: float) -> str:
    """The card for people."""
    kinds = {name: part["origin"].replace_strict(_KNOWN, default="generated") for name, part in parts.items()}
    kinds["all"] = pl.concat(kinds.values())
    posterior = pl.concat(parts.values()).filter(kinds["all"] == "generated")["posterior"]
    columns = [(name, _TYPES[kind], _COLUMNS[name]) for name, kind in EQUATIONS.items()]
    counts = [
        (sentence, *(f"{(column == kind).sum():,}" for column in kinds.values()))
        for kind, sentence in _ORIGINS.items()
    ]
    return _CARD.format(
        rows=len(kinds["all"]),
        problems=problems,
        version=version("warmkit"),
        columns=_table(("column", "type", "what it is"), columns),
        origins=_table(("equations", *kinds), counts),
        generated=_GENERATED.format(median=posterior.median(), lowest=posterior.min(), threshold=threshold)
        if len(posterior)
        else "",
    )


def _table(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """A table in Markdown."""
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (header, ("---",) * len(header), *rows))
