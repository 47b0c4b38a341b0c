import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from toolkit.data.neighbours import cost
from toolkit.equations import DEFAULT_CONSTANTS, klass, parse, show
from toolkit.methods.warm.explore import FoundPaths
from toolkit.methods.warm.memory import Memory
from toolkit.methods.warm.paths import Layout, path_hash

LAYOUT = Layout(DEFAULT_CONSTANTS, "+-*/")
N, R = LAYOUT.first_number, LAYOUT.first_result


def test_a_template_becomes_a_path_and_comes_back():
    for text in ("N0 - N1", "(N0 + 1) * N2", "π * N0 * N0", "N0 / (N1 - N2) + N3 * N3"):
        path = LAYOUT.path(parse(text), 4, 6)
        assert klass(LAYOUT.template(path)) == klass(parse(text))


def test_what_is_no_path_is_none():
    assert LAYOUT.path(parse("N0"), 1, 6) is None  # no step
    assert LAYOUT.path(parse("N0 ^ N1"), 2, 6) is None  # no such operator
    assert LAYOUT.path(parse("N0 + N1 + N2"), 3, 1) is None  # too long
    assert LAYOUT.path(parse("N0 + 7"), 1, 6) is None  # no such operand


def test_a_path_costs_what_its_template_does():
    texts = ("N0 - N1", "(N0 + 1) * N2", "π * N0 * N0", "N0 / (N1 - N2) + N3 * N3", "N1 + N1 + N1")
    paths = torch.tensor([LAYOUT.path(parse(text), 4, 6) for text in texts])
    costs = LAYOUT.costs(paths, torch.full((len(texts),), 4))
    assert costs.tolist() == [cost(parse(text), 4) for text in texts]
    assert len(set(costs.tolist())) > 3


def test_slots_and_codes_are_inverse():
    path = torch.tensor([LAYOUT.path(parse("(N0 + N1) * N2 - 1"), 3, 5)])
    slots = LAYOUT.to_slots(path, 3)
    assert slots[0, 1].tolist() == [2, N + 2, N + 3]  # the first result comes after three numbers
    assert LAYOUT.to_codes(slots, 3).equal(path)


def test_needless_steps_are_pruned_and_operands_put_in_order():
    path = torch.tensor([[[0, N + 1, N], [2, N, N], [1, R, N + 2], [-1, -1, -1]]])
    (pruned,) = LAYOUT.pruned(path).tolist()
    assert pruned == [[0, N, N + 1], [1, R, N + 2], [-1, -1, -1], [-1, -1, -1]]


steps = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=5)


@settings(deadline=None)
@given(steps)
def test_pruning_keeps_the_class(drawn):
    path = []
    for t, (op, left, right) in enumerate(drawn):
        operands = [0, 1, N, N + 1, N + 2, *(R + i for i in range(t))]
        path.append([op, operands[left % len(operands)], operands[right % len(operands)]])
    padded = torch.tensor([path + [[-1, -1, -1]] * (6 - len(path))])
    pruned = LAYOUT.pruned(padded)
    assert klass(LAYOUT.template(pruned[0].tolist())) == klass(LAYOUT.template(padded[0].tolist()))
    assert LAYOUT.pruned(pruned).equal(pruned)


def found(*rows: tuple[int, str, float]) -> FoundPaths:
    paths = torch.tensor([LAYOUT.path(parse(text), 3, 4) for _, text, _ in rows])
    return FoundPaths(torch.tensor([row[0] for row in rows]), paths, torch.tensor([row[2] for row in rows]))


def remembered(memory: Memory, row: int) -> list[str]:
    kept = [path for path in memory.recall(torch.tensor([row]))[0].tolist() if path[0][0] >= 0]
    return [show(LAYOUT.template(path)) for path in kept]


def test_memory_keeps_the_likeliest_different_paths_of_each_problem():
    memory = Memory(3, 2, 4, torch.device("cpu"))
    rows = torch.tensor([2, 0])  # the batch holds problems 2 and 0
    memory.add(
        rows, found((0, "N0 + N1", -1.0), (0, "N0 * N1", -3.0), (0, "N0 - N1", -2.0), (1, "N0 / N1", -5.0))
    )
    assert remembered(memory, 2) == ["N0 + N1", "N0 - N1"]
    assert remembered(memory, 0) == ["N0 / N1"]
    assert memory.scores.isfinite().any(1).tolist() == [True, False, True]
    memory.add(rows, found((0, "N0 + N1", -1.5), (0, "N2 + N1", -0.5)))
    assert remembered(memory, 2) == ["N1 + N2", "N0 + N1"]


def test_what_is_forgotten_can_be_found_again():
    memory = Memory(1, 2, 4, torch.device("cpu"))
    row = torch.tensor([0])
    memory.add(row, found((0, "N0 + N1", -1.0)))
    memory.forget(row)
    assert remembered(memory, 0) == []
    memory.add(row, found((0, "N0 + N1", -1.0)))
    assert remembered(memory, 0) == ["N0 + N1"]


def test_the_hash_tells_paths_apart():
    texts = ("N0 + N1", "N1 + N2", "N0 - N1", "N1 - N0", "N0 + N1 + N2", "N0 * 1 + N1")
    paths = torch.tensor([LAYOUT.path(parse(text), 3, 4) for text in texts])
    assert len(set(path_hash(paths).tolist())) == len(texts)
