"""docs/cli.md has every command and every option of the command line, and no other."""

import re
from collections.abc import Iterator
from typing import Any

import typer

from tests.docs.console import ROOT
from tether.cli import common
from tether.cli.app import app

PAGE = (ROOT / "docs" / "cli.md").read_text("utf-8")
SECTION = re.compile(r"^## `tether ([^`]+)`\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
EVERYWHERE = {"--data", "--namespace", "--json", "--help"}


def leaves(command: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """The commands that do something, by their whole name."""
    for own, inner in getattr(command, "commands", {}).items():
        yield from leaves(inner, f"{name} {own}".strip())
    if not hasattr(command, "commands"):
        yield name, command


COMMANDS: dict[str, Any] = dict(leaves(typer.main.get_command(app)))


def sections() -> dict[str, tuple[list[str], str]]:
    """Command -> its arguments as its heading names them, and the prose and examples of its section."""
    found: dict[str, tuple[list[str], str]] = {}
    for head, body in SECTION.findall(PAGE):
        words = str(head).split()
        found[" ".join(word for word in words if not word.isupper())] = [w for w in words if w.isupper()], str(body)
    return found


def options(command: Any) -> set[str]:
    return {name for each in command.params for name in each.opts if name.startswith("--")}


def test_the_page_has_every_command() -> None:
    assert sections().keys() == COMMANDS.keys()


def test_the_page_has_the_arguments_of_every_command() -> None:
    arguments = {
        name: [each.metavar for each in command.params if each.param_type_name == "argument"]
        for name, command in COMMANDS.items()
    }
    assert {name: named for name, (named, _) in sections().items()} == arguments


def test_the_page_has_every_option_and_no_other() -> None:
    for name, (_, body) in sections().items():
        prose = re.sub(r"```.*?```", "", body, flags=re.DOTALL)
        assert options(COMMANDS[name]) - EVERYWHERE == set(OPTION.findall(prose)) - EVERYWHERE, name


def test_every_command_is_run_by_an_example_and_takes_the_common_options() -> None:
    for name, command in COMMANDS.items():
        assert f"$ tether {name}" in PAGE, name
        assert options(command) >= EVERYWHERE - {"--help"}, name


def test_the_page_has_the_exit_codes_and_the_variables() -> None:
    codes = {int(code) for code in re.findall(r"^\| (\d+) \|", PAGE, re.MULTILINE)}
    assert codes == {0, common.REFUSED, common.USAGE, common.INTERRUPTED}
    assert all(name in PAGE for name in ("TETHER_DATA", "TETHER_NAMESPACE", common.DEBUG, "NO_COLOR"))
