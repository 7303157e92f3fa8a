"""docs/api.md says what the code says: signatures, fields, errors, settings, JSON forms."""

import ast
import dataclasses
import inspect
import json
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import pytest
import tether_schemas.errors
from tether_schemas.answers import EvidenceId, Receipt

import tether
from tether import Memory, Settings, Store, forms, memory, rebuilds, snapshots

PAGE = (Path(__file__).parents[2] / "docs" / "api.md").read_text("utf-8")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXPORTED: list[object] = [getattr(tether, name) for name in tether.__all__]
DATACLASSES = [cls for cls in EXPORTED if isinstance(cls, type) and dataclasses.is_dataclass(cls)]
KEYWORDS = [
    *(forms.Attributes, forms.Fields, forms.ToolFields, forms.MessageFields, forms.Until),
    memory.OpenOptions,
    rebuilds.RebuildOptions,
    forms.Waits,
    snapshots.SnapshotOptions,
]


def blocks(language: str) -> Iterator[str]:
    return (found[2] for found in BLOCK.finditer(PAGE) if found[1] == language)


def documented() -> dict[str, ast.ClassDef]:
    """The classes that the page shows."""
    found = (node for block in blocks("python") for node in ast.parse(block).body)
    return {node.name: node for node in found if isinstance(node, ast.ClassDef)}


def source_of(cls: type) -> ast.ClassDef:
    node = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0]
    assert isinstance(node, ast.ClassDef)
    return node


def fields(node: ast.ClassDef) -> list[str]:
    return [ast.unparse(each) for each in node.body if isinstance(each, ast.AnnAssign)]


def signatures(node: ast.ClassDef, module: ModuleType | None) -> list[str]:
    """Every public method, its decorators and its signature; a default that is a constant by its value."""
    found: list[str] = []
    for each in node.body:
        if isinstance(each, ast.FunctionDef) and not each.name.startswith("_"):
            each = _Values(module).visit(each)
            decorators = [ast.unparse(decorator) for decorator in each.decorator_list]
            returns = ast.unparse(each.returns) if each.returns is not None else "nothing"
            found.append(f"{decorators} {each.name}({ast.unparse(each.args)}) -> {returns}")
    return found


class _Values(ast.NodeTransformer):
    """Puts the value in the place of a constant's name."""

    def __init__(self, module: ModuleType | None) -> None:
        self._module = module

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Constant(getattr(self._module, node.id)) if self._module and node.id.isupper() else node


@pytest.mark.parametrize("cls", [Memory, Store])
def test_the_page_has_every_method_as_it_is(cls: type) -> None:
    assert signatures(documented()[cls.__name__], None) == signatures(source_of(cls), inspect.getmodule(cls))


@pytest.mark.parametrize("cls", [*DATACLASSES, *KEYWORDS])
def test_the_page_has_every_field_as_it_is(cls: type) -> None:
    assert fields(documented()[cls.__name__]) == fields(source_of(cls))


def test_the_page_shows_no_class_that_is_not_there() -> None:
    assert documented().keys() == {cls.__name__ for cls in (Memory, Store, *DATACLASSES, *KEYWORDS)}


def test_the_page_draws_the_tree_of_errors() -> None:
    tree = re.search(r"TetherError\n(?:[|`].*\n)+", tether_schemas.errors.__doc__ or "")
    assert tree is not None and tree[0] in blocks("")


def test_everything_that_is_exported_is_on_the_page() -> None:
    assert [name for name in tether.__all__ if not re.search(rf"\b{name}\b", PAGE)] == []


def test_the_page_lists_the_settings() -> None:
    assert [row for row in PAGE.splitlines() if row.startswith("| `TETHER_")] == list(settings_rows())


def settings_rows() -> Iterator[str]:
    for name, field in Settings.model_fields.items():
        bounds = [getattr(bound, side) for bound in field.metadata for side in ("ge", "le") if hasattr(bound, side)]
        choices = [f"`{choice}`" for choice in get_args(field.annotation)] if field.default is not None else []
        allowed = " to ".join(map(str, bounds)) or " or ".join(choices) or "any"
        default = "none" if field.default is None else f"`{field.default}`"
        yield f"| `TETHER_{name.upper()}` | {default} | {allowed} | {field.description} |"


def test_each_json_form_has_the_names_of_its_class_in_their_order() -> None:
    shown = [json.loads(block) for block in blocks("json")]
    names = [[field.name for field in dataclasses.fields(cls)] for cls in DATACLASSES]
    assert [one for one in shown if list(one) not in names] == []
    assert len(shown) == 3


def test_to_json_gives_the_forms_of_the_page() -> None:
    first: Any = json.loads(next(blocks("json")))
    assert json.loads(tether.to_json(Receipt(**first))) == first
    assert tether.to_json([EvidenceId("ci", "1")]) == b'[{"source":"ci","id":"1","namespace":""}]'
