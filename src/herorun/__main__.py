"""`python -m herorun`."""

from herorun.cli import main

main()
