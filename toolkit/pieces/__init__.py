"""Measurements in pieces: each is saved when it is done, and what is saved is not measured again.

run      the pieces of a plan, until all are there or the time is over
spread   pieces on the workers of a Ray cluster
"""
