"""An invented run, to draw: the numbers are plausible, the problems are in three languages."""

import polars as pl
import pytest

from toolkit.active.calibration import Reliability
from toolkit.data.constants import ConstantChoice, Evidence, parse_constants
from toolkit.data.schema import METRICS
from toolkit.report.figures import Asked, Disputed, RunFigures, Spurious
from toolkit.statistics import Difference

LABELS = [0, 40, 80, 120, 160]
POOL = {
    "labels": LABELS,
    "reached": [0.682, 0.771, 0.834, 0.871, 0.893],
    "gold_equivalent": [0.414, 0.553, 0.662, 0.724, 0.751],
    "confidence": [0.583, 0.654, 0.721, 0.768, 0.794],
    "uncertainty": [0.921, 0.733, 0.588, 0.472, 0.431],
    "random_error": [0.4, 0.3, 0.2, 0.1, 0.1],
    "seconds": [312.0, 287.4, 296.1, 301.8, 299.0],
}
TEST = {
    "answer_accuracy": [0.448, 0.551, 0.617, 0.659, 0.678],
    "class_accuracy": [0.402, 0.517, 0.589, 0.631, 0.652],
}
QUESTIONS = [
    Asked(
        1, "en-0006",
        "Paul has 7 times as many sandwiches as Tara. Tara has 66. How many sandwiches must Tara get to have "
        "the same number as Paul?",
        396.0, "en", "uncertain: two classes within 0.08", 0.46,
        [("7 * 66 - 66", 0.46), ("66 * (7 - 1)", 0.38), ("66 * 6", 0.11), ("7 * 66 - 66 * 1", 0.05)],
        "accepted", "7 * 66 - 66", "asha", None, True, 14.0,
    ),
    Asked(
        1, "hi-0003",
        "कविता की उम्र 12 साल है। उसकी माँ की उम्र उससे तीन गुनी है। 9 साल पहले माँ की उम्र कितनी थी?",
        27.0, "hi", "uncertain: two classes within 0.12", 0.52,
        [("9 * 3", 0.52), ("3 * 12 - 9", 0.40), ("12 + 9 + 3 * 2", 0.08)],
        "accepted", "3 * 12 - 9", "asha", None, False, 21.0,
    ),
    Asked(
        1, "zh-0011", "一个圆形花坛的半径是5米，沿着花坛走3圈，一共走了多少米？",
        94.2477796076938, "zh", "unsolved", None, [],
        "accepted", "2 * π * 5 * 3", "li", None, None, 33.0,
    ),
    Asked(
        1, "en-0101", "A box holds 12 eggs. How many eggs are in 8 boxes?",
        86.0, "en", "random", 0.31, [("12 * 8 - 8 - 2", 0.31), ("(12 - 1) * 8 - 2", 0.3)],
        "disputed", None, "li", "12 × 8 is 96, the key says 86", None, 9.0,
    ),
    Asked(
        2, "zh-0025", "小明有24颗糖，分给4个朋友，每人分得同样多，每人又吃了2颗，每人还剩几颗？",
        4.0, "zh", "uncertain: two classes within 0.03", 0.48,
        [("24 / 4 - 2", 0.48), ("4", 0.45), ("2 * 4 - 4", 0.03), ("4 * 2 / 2", 0.02), ("4 / 2 + 2", 0.01),
         ("(24 - 4 * 2) / 4", 0.006), ("24 / (4 + 2)", 0.004)],
        "accepted", "24 / 4 - 2", "asha", None, True, 12.0,
    ),
    Asked(
        2, "hi-0002", "सुरेश के पास 200 मोती हैं। सुरेश के पास रवि से 5 गुने मोती हैं। रवि के पास कितने मोती हैं?",
        40.0, "hi", "random", 0.97, [("200 / 5", 0.97), ("200 - 5 * 32", 0.03)],
        "rejected", "200 * 5", "li", "the equation gives 1,000, the answer is 40", None, 7.0,
    ),
    Asked(
        2, "en-0077", "A train goes 180 km in 2.5 hours. How fast is it?",
        72.0, "en", "random", 0.99, [("180 / 2.5", 0.99)], "pending", None, None, None, None,
    ),
    Asked(
        2, "en-0092", "Some of the 40 children go home. How many stay?",
        25.0, "en", "unsolved", None, [], "skipped", None, "asha", "a number is missing", None, 18.0,
    ),
]  # fmt: skip
DISPUTED = [
    Disputed(
        "en-0101",
        "A box holds 12 eggs. How many eggs are in 8 boxes?",
        86.0,
        "li",
        "12 × 8 is 96, the key says 86",
        "en",
    ),
]
SPURIOUS = [
    Spurious("hi-0003", QUESTIONS[1].text, 27.0, "9 * 3", "3 * 12 - 9", 0.52, "hi"),
    Spurious(
        "en-0044",
        "A garden is 4 m long and 2 m wide. What is the distance around it?",
        12.0,
        "4 + 4 * 2",
        "2 * (4 + 2)",
        0.71,
        "en",
    ),
]
BINS = [0.07, 0.16, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.86, 0.97]
BEFORE = Reliability(
    BINS,
    [0.11, 0.17, 0.22, 0.28, 0.33, 0.41, 0.47, 0.55, 0.66, 0.86],
    [12, 31, 58, 94, 121, 146, 170, 211, 290, 867],
    0.114,
    0.187,
    0.781,
    [(0.1, 0.03), (0.2, 0.05), (0.3, 0.07), (0.4, 0.09), (0.5, 0.12), (0.6, 0.15), (0.7, 0.18), (0.8, 0.2),
     (0.9, 0.22), (1.0, 0.249)],
)  # fmt: skip
AFTER = Reliability(
    BINS,
    [0.09, 0.15, 0.27, 0.33, 0.46, 0.53, 0.67, 0.74, 0.85, 0.95],
    [20, 48, 90, 151, 204, 238, 262, 287, 310, 390],
    0.021,
    0.158,
    0.794,
    [(0.1, 0.02), (0.2, 0.035), (0.3, 0.055), (0.4, 0.08), (0.5, 0.105), (0.6, 0.135), (0.7, 0.165),
     (0.8, 0.19), (0.9, 0.215), (1.0, 0.249)],
)  # fmt: skip
CONFIG = """\
data: bundled:en,hi
seed: 7
warm:
  beam: 5
  epochs: 30
loop:
  batch: 40
  rounds: 8
  strategy: margin
  random_share: 0.1
"""


def metrics() -> pl.DataFrame:
    rows = [
        (at, split, name, float(value))
        for split, table in (("pool", POOL), ("test", TEST))
        for name, values in table.items()
        for at, value in enumerate(values)
    ]
    return pl.DataFrame(rows, schema=METRICS, orient="row")


@pytest.fixture
def example() -> RunFigures:
    return make_example()


CHOICE = ConstantChoice(
    parse_constants(["1", "100", "π"]),
    (
        Evidence("100", True, 27, 38, 1, 2, "N0 / N1 * 100", 26),
        Evidence("4", False, 2, 3, 3, 1, "N0 / 4", 3),
        Evidence("7"),
    ),
    1500,
)


def make_example() -> RunFigures:
    return RunFigures(
        name="three-languages",
        data="bundled:en,hi + zh.jsonl",
        problems=2000,
        test_problems=500,
        test_gold=500,
        annotator="Label Studio (2 people)",
        strategy="margin, 10% random",
        stopped_by="plateau",
        stop_reason="Uncertainty fell by less than 0.05 in the last round.",
        rounds=5,
        labels=160,
        seconds=1812.0,
        seed=7,
        command="warmkit loop configs/three-languages.yaml --name three-languages --annotator label-studio",
        config=CONFIG,
        metrics=metrics(),
        final={"answer_accuracy": 0.702, "class_accuracy": 0.676},
        references={
            "no annotations": {"answer_accuracy": 0.474, "class_accuracy": 0.421},
            "everything annotated": {"answer_accuracy": 0.752, "class_accuracy": 0.733},
        },
        gains={
            "this run": Difference(0.228, 0.183, 0.271),
            "everything annotated": Difference(0.278, 0.231, 0.322),
        },
        before=BEFORE,
        after=AFTER,
        asked=QUESTIONS,
        responses=9,
        usable=4,
        disputed=DISPUTED,
        spurious=SPURIOUS,
        constants=CHOICE.names,
        choice=CHOICE,
        stage_seconds={"train WARM": 861.2, "generate": 214.9, "calibrate": 3.4, "quick solver": 388.0,
                       "final solver": 344.5},
        versions={"warmkit": "0.1.0", "python": "3.11.9", "torch": "2.6.0", "polars": "1.30.0"},
    )  # fmt: skip
