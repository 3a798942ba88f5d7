"""The console script, and `python -m herorun`."""

import signal

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    # Until `main` catches it, Ctrl-C ends the process without the traceback of an import.
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from herorun.cli import main

if __name__ == "__main__":
    main()
