"""The command line: each command parses, calls the SDK and renders. docs/cli.md describes every command.

The SDK is imported when a command runs, so that help is quick.
"""

import sys
from io import TextIOWrapper

from tether.cli.app import app
from tether.cli.common import drop_output, told


def main() -> None:
    """Run `tether` with the arguments of the process; never returns."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal without Unicode is no reason to fail
    try:
        app(prog_name="tether")
    except SystemExit:
        try:
            sys.stdout.flush()
        except BrokenPipeError:
            drop_output()
        raise
    except BaseException as error:
        sys.exit(told(error))
