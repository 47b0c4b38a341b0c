"""The tables of the paper (Chatterjee et al., COLING 2022), measured.

tables     what the paper compares: systems, problem sets, and its own numbers, as data
sets       a problem set in folds
cells      one measurement: a system on a fold with a seed, and the file of its result
measure    how a cell is measured
plan       which cells the tables need, and what they cost
run        a folder of measurements, and who measures them (`toolkit.pieces` runs them)
figures    what a table shows
page, markdown   the results
"""
