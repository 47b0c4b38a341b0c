"""`python -m toolkit.cli` is the `warmkit` command."""

from toolkit.cli import main

main()
