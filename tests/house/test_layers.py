"""Imports are absolute and run downwards only; heavy ones stay in their adapter; the core is pure."""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.house.source import PACKAGES, Module, modules, none

LAYERS = list(PACKAGES)
CORE = "streams/tether_streams/core/"
STORE = "projections/tether_projections/store.py"

# Which files alone may import a library: a file, or a folder that ends in `/`.
HOMES = {"duckdb": STORE, "sqlite3": "streams/tether_streams/embedded/", "typer": "tether/", "rich": "tether/"}

CORE_PARSERS = {"jmespath", "packaging", "univers", "packageurl"}
CORE_OWN = ("tether_schemas", "tether_streams.core")
# Standard modules that bring in the clock, chance, the environment or the outside world.
CORE_BANNED = {
    *("time", "sched", "random", "secrets", "uuid"),
    *("os", "sys", "platform", "locale", "getpass", "site", "resource", "signal", "ctypes", "importlib", "warnings"),
    *("io", "pathlib", "glob", "shutil", "tempfile", "mmap", "pickle", "shelve", "sqlite3", "logging", "subprocess"),
    *("socket", "ssl", "select", "selectors", "http", "urllib"),
    *("asyncio", "concurrent", "multiprocessing", "threading", "queue"),
}
CORE_BANNED_CALLS = {"open", "input", "print", "exec", "eval", "hash", "__import__"}
CORE_BANNED_CLOCKS = {"now", "utcnow", "today"}


@dataclass(frozen=True, slots=True)
class Import:
    """One imported module, or name of a module; `level` is the number of leading dots."""

    name: str
    level: int
    line: int

    @property
    def top(self) -> str:
        return self.name.partition(".")[0]


def imports(module: Module) -> Iterator[Import]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            yield from (Import(alias.name, 0, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (Import(f"{node.module or ''}.{a.name}", node.level, node.lineno) for a in node.names)


def layer_faults(module: Module) -> list[str]:
    if module.package is None:
        return []
    faults: list[str] = []
    for imported in imports(module):
        where = f"{module.path}:{imported.line}"
        if imported.level:
            faults.append(f"{where} relative import; write the full name")
        elif imported.top in {"tests", "benchmarks"}:
            faults.append(f"{where} imports {imported.top}, which is not installed")
        elif imported.top in LAYERS and LAYERS.index(imported.top) > LAYERS.index(module.package):
            faults.append(f"{where} imports upwards: {module.package} -> {imported.top}")
        elif home := HOMES.get(imported.top):
            inside = module.path.startswith(home) if home.endswith("/") else module.path == home
            if not inside:
                faults.append(f"{where} imports {imported.top}, which belongs to {home} alone")
    return faults


def purity_faults(module: Module) -> list[str]:
    if not module.path.startswith(CORE):
        return []
    faults: list[str] = []
    for imported in imports(module):
        own = any(imported.name == name or imported.name.startswith(name + ".") for name in CORE_OWN)
        standard = imported.top in sys.stdlib_module_names and imported.top not in CORE_BANNED
        if not (own or standard or imported.top in CORE_PARSERS):
            faults.append(f"{module.path}:{imported.line} the core imports {imported.name}")
    for node in ast.walk(module.tree):
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in CORE_BANNED_CALLS:
                faults.append(f"{module.path}:{node.lineno} the core calls {name}()")
            case ast.Call(func=ast.Attribute(attr=name)) if name in CORE_BANNED_CLOCKS:
                faults.append(f"{module.path}:{node.lineno} the core reads the clock: {name}()")
            case _:
                pass
    return faults


def test_imports_are_absolute_and_run_downwards() -> None:
    none([fault for module in modules() for fault in layer_faults(module)])


def test_the_core_is_pure() -> None:
    none([fault for module in modules() for fault in purity_faults(module)])


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("streams/tether_streams/runtime.py", "from tether_projections.engine import Engine"),
        ("streams/tether_streams/runtime.py", "def late():\n    import tether"),
        ("schemas/tether_schemas/facts.py", "import tether_streams.ports"),
        ("projections/tether_projections/engine.py", "from .store import Store"),
        ("projections/tether_projections/engine.py", "import duckdb"),
        ("streams/tether_streams/memory.py", "import sqlite3"),
        ("replay/tether_replay/rebuild.py", "from rich.console import Console"),
        ("tether/sdk.py", "from tests.oracle import belief"),
    ],
)
def test_a_planted_import_is_found(path: str, text: str) -> None:
    assert layer_faults(Module(path, text))


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("projections/tether_projections/store.py", "import duckdb"),
        ("streams/tether_streams/embedded/log.py", "import sqlite3"),
        ("tether/cli.py", "import typer\nfrom tether_replay.rebuild import rebuild"),
        ("tests/streams/test_log.py", "import sqlite3"),
    ],
)
def test_an_import_in_its_home_is_no_fault(path: str, text: str) -> None:
    assert not layer_faults(Module(path, text))


@pytest.mark.parametrize(
    "text",
    [
        "import time",
        "from os import environ",
        "import uuid",
        "import numpy",
        "from tether_streams.ports import Log",
        "import datetime\nx = datetime.datetime.now()",
        "from datetime import date as day\nx = day.today()",
        "x = open('f')",
        "x = hash('a')",
    ],
)
def test_a_planted_impurity_is_found(text: str) -> None:
    assert purity_faults(Module(CORE + "rule.py", text))


def test_pure_imports_are_no_fault() -> None:
    text = (
        "from datetime import datetime\nimport hashlib, jmespath, tether_schemas.ids\nfrom tether_streams import core"
    )
    assert not purity_faults(Module(CORE + "rule.py", text))
