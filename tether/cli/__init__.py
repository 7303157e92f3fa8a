"""The command line: each command parses, calls the SDK and renders. docs/cli.md describes every command.

The SDK is imported when a command runs, so that help is quick.
"""

import sys

from tether.cli.app import app
from tether.cli.common import guarded


def main() -> None:
    """Run `tether` with the arguments of the process; never returns."""
    with guarded():
        app(prog_name="tether")
    sys.exit(0)
