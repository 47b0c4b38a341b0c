"""Settings of a loop so small that a round takes a second."""

TINY = (
    *("limit=24", "constants=['1', π]", "active.batch=4", "active.fixed=10", "references=false"),
    *("warm.train.epochs=1", "later_epochs=1", "warm.model.hidden=8", "warm.model.embedding=8"),
    *("warm.train.search=1", "generate.width=3", "generate.search=2"),
    *("solver.epochs=1", "solver.members=1", "solver.hidden=8", "solver.embedding=8", "solver.max_tokens=7"),
    "solver.later_epochs=1",
)

# Of step one alone: an epoch takes a fraction of a second.
WARM = ("model.hidden=16", "model.embedding=16", "model.max_steps=4", "train.epochs=3", "train.search=1")
