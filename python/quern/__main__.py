"""`python -m quern` is the `quern` program."""

from ._program import main

main()
