"""What all solvers that are networks share: examples, training that resumes, votes, ranking, retrieval."""
