"""How many labels a strategy saves, measured so that a sceptic can check it.

sets      the problem sets, and the samples of them
pieces    one measurement: a strategy on a sample, and the file of its result
measure   how a piece is measured: a loop with the oracle, round by round
replay    the same on candidates that are there: quick, and without what a model learns
plan      which pieces are measured, and in which order
figures   labels to a goal, and their ratio to those of random, with bootstrap intervals
page, markdown   the results
"""
