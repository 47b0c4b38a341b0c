"""What went wrong, for people."""


class WarmkitError(Exception):
    """A failure that a person can mend. Its message is whole: what, where (file, line, id), what to do."""
