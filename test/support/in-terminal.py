"""Runs a command in a pseudo-terminal of its own; what comes on standard input is typed there. Exits as the command does."""
import os
import pty
import sys

sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))
