"""Modules, functions and parameter lists stay small, tests and benchmarks included."""

import ast

import pytest

from tests.house.source import Module, modules, none

MODULE_LINES_MAX = 400
FUNCTION_LINES_MAX = 60  # the aim is 40
PARAMETERS_MAX = 6


def size_faults(module: Module) -> list[str]:
    lines = len(module.text.splitlines())
    faults = [f"{module.path} has {lines} lines, over {MODULE_LINES_MAX}"] if lines > MODULE_LINES_MAX else []
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        where = f"{module.path}:{node.lineno} {node.name}"
        lines = (node.end_lineno or node.lineno) - node.lineno + 1
        if lines > FUNCTION_LINES_MAX:
            faults.append(f"{where} has {lines} lines, over {FUNCTION_LINES_MAX}")
        count = parameter_count(node.args)
        if count > PARAMETERS_MAX:
            faults.append(f"{where} has {count} parameters, over {PARAMETERS_MAX}: make one frozen value of them")
    return faults


def parameter_count(arguments: ast.arguments) -> int:
    """Parameters that a caller can name or place, keyword-only ones included; a leading self or cls is not one."""
    named = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    return len(named) - (named[:1] in (["self"], ["cls"])) + len(arguments.kwonlyargs)


def test_no_module_function_or_parameter_list_is_too_long() -> None:
    none([fault for module in modules() for fault in size_faults(module)])


@pytest.mark.parametrize(
    "text",
    [
        "x = 1\n" * (MODULE_LINES_MAX + 1),
        "def long():\n" + "    x = 1\n" * FUNCTION_LINES_MAX,
        "def many(a, b, c, /, d, *, e, f, g): ...",
        "class C:\n    async def many(self, a, b, c, d, e, f, g): ...",
    ],
)
def test_what_is_too_long_is_found(text: str) -> None:
    assert size_faults(Module("tether/x.py", text))


@pytest.mark.parametrize(
    "text",
    [
        "x = 1\n" * MODULE_LINES_MAX,
        "def long():\n" + "    x = 1\n" * (FUNCTION_LINES_MAX - 1),
        "class C:\n    def many(self, a, b, c, d, *, e, f): ...",
    ],
)
def test_the_limit_itself_is_allowed(text: str) -> None:
    assert not size_faults(Module("tether/x.py", text))
