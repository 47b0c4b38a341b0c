"""The confusion plot of a solver: which operators it took for which."""

from collections.abc import Mapping

from toolkit.report.svg import heat_map, standalone


def confusion_plot(confusion: Mapping[str, Mapping[str, int]]) -> str:
    """An SVG file: rows are the operators of the gold equations, columns those the solver used."""
    names = list(confusion)
    signs = [name.replace("-", "−").replace("*", "×").replace("/", "÷") for name in names]
    return standalone(
        heat_map(
            signs,
            signs,
            [[confusion[gold][found] for found in names] for gold in names],
            title="Operators of the gold equations, and those that the solver used",
            row_label="gold",
            column_label="solver",
            show=lambda value: f"{value:.0f}",
        )
    )
