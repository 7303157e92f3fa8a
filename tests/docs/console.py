"""Examples in the docs: console blocks of `$` commands with what they print, Python blocks with the text they print."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parents[2]
TIMEOUT_S = 120
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

# What differs from run to run, and what stands in its place in a comparison.
VARIABLE = [
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z"), "TIME"),
    (re.compile(r"(?<=  )20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ"), "TIME"),
    (re.compile(r"\b[0-9a-f]{32}\b"), "DIGEST"),
    (re.compile(r"(?<=position)(\W+)\d+"), r"\1POSITION"),
    (re.compile(r"\b\d+\.\d s\b"), "SECONDS"),
]


@dataclass(frozen=True, slots=True)
class Example:
    """One command or program, and what the page says that it prints."""

    run: str
    printed: str


def blocks(text: str, language: str) -> Iterator[str]:
    """The blocks of one language."""
    return (found[2] for found in BLOCK.finditer(text) if found[1] == language)


def commands(block: str) -> list[Example]:
    """The commands of a console block: lines after `$ `, continued after `> `; what follows is printed."""
    found: list[tuple[list[str], list[str]]] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append(([line[2:]], []))
        elif line.startswith("> ") and not found[-1][1]:
            found[-1][0].append(line[2:])
        else:
            found[-1][1].append(line)
    return [Example("\n".join(run), "\n".join(printed)) for run, printed in found]


def programs(text: str) -> list[Example]:
    """The Python blocks that a block of plain text follows, which is what they print."""
    found = list(BLOCK.finditer(text))
    return [
        Example(one[2], after[2].rstrip("\n"))
        for one, after in pairwise(found)
        if (one[1], after[1]) == ("python", "text")
    ]


class Shell:
    """Runs commands one after the other in a folder; `export` holds for those that follow. 80 columns, no terminal."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        self._environment = {name: value for name, value in os.environ.items() if not name.startswith("TETHER_")}
        self._environment |= {"PATH": path, "COLUMNS": "80", "NO_COLOR": "1"}

    def run(self, command: str) -> str:
        """What a command prints, on both streams."""
        if command.startswith("export "):
            self._environment |= dict(pair.split("=", 1) for pair in command.removeprefix("export ").split())
            return ""
        return self._printed(["sh", "-c", command])

    def program(self, text: str) -> str:
        """What a Python program prints."""
        return self._printed([sys.executable, "-c", text])

    def _printed(self, command: list[str]) -> str:
        ran = subprocess.run(
            command,
            cwd=self._folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=TIMEOUT_S,
        )
        return ran.stdout.decode().replace(f"{self._folder.resolve()}/", "").rstrip("\n")


def normal(text: str) -> str:
    """The text with what differs from run to run replaced, and without spaces at the ends of lines."""
    for pattern, name in VARIABLE:
        text = pattern.sub(name, text)
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())
