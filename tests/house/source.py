"""What the house tests read: the files of this checkout, and which package each belongs to."""

import ast
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# The import packages, lowest first, each with the folder that holds it. Imports run from later to earlier only.
PACKAGES = {
    "tether_schemas": "schemas/tether_schemas",
    "tether_streams": "streams/tether_streams",
    "tether_projections": "projections/tether_projections",
    "tether_replay": "replay/tether_replay",
    "tether": "tether",
}
SKIPPED_FOLDERS = {".git", ".venv", "dist", "build", "__pycache__", "node_modules", "bench-results"}


@dataclass(frozen=True, slots=True)
class Module:
    """One Python file: its path from the root, with `/`, and its text."""

    path: str
    text: str

    @property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, filename=self.path)

    @property
    def package(self) -> str | None:
        """The import package that the file lies in, or None outside the five."""
        return next((name for name, folder in PACKAGES.items() if self.path.startswith(folder + "/")), None)


@cache
def files() -> tuple[str, ...]:
    """The project's files, from the root, sorted: what git tracks or would track, else what lies there."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    if (ROOT / ".git").exists() and shutil.which("git"):
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        if listed.returncode == 0:  # else git refuses a checkout that another user owns
            return tuple(sorted({name for name in listed.stdout.split("\0") if (ROOT / name).is_file()}))
    return tuple(sorted(path.relative_to(ROOT).as_posix() for path in _walk(ROOT)))


def _walk(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if path.name in SKIPPED_FOLDERS or (path.name.startswith(".") and path.name.endswith("_cache")):
            continue
        if path.is_dir() and not path.is_symlink():
            yield from _walk(path)
        elif path.is_file():
            yield path


@cache
def modules() -> tuple[Module, ...]:
    """Every Python file of the project, tests and benchmarks included."""
    return tuple(Module(name, (ROOT / name).read_text("utf-8")) for name in files() if name.endswith(".py"))


def text_of(name: str) -> str | None:
    """The text of a file, or None where it is not text."""
    data = (ROOT / name).read_bytes()
    if b"\0" in data[:8192]:
        return None
    return data.decode("utf-8", errors="replace")


def none(faults: list[str]) -> None:
    """Fails with one fault on each line, whole."""
    if faults:
        pytest.fail("\n".join(faults), pytrace=False)
