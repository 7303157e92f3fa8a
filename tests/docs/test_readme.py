"""The examples of README.md and docs/cli.md run, and print what the pages say."""

from pathlib import Path

import pytest

from tests.docs.console import ROOT, Shell, blocks, commands, normal, programs

README = (ROOT / "README.md").read_text("utf-8")
CLI = (ROOT / "docs" / "cli.md").read_text("utf-8")


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def run_consoles(shell: Shell, page: str) -> None:
    ran = 0
    for block in blocks(page, "console"):
        for example in commands(block):
            assert normal(shell.run(example.run)) == normal(example.printed), example.run
            ran += 1
    assert ran


def test_the_examples_of_the_readme_print_what_it_says(shell: Shell) -> None:
    [program] = programs(README)
    assert normal(shell.program(program.run)) == normal(program.printed)
    run_consoles(shell, README)


def test_the_program_of_the_readme_has_ten_lines(shell: Shell) -> None:
    [program] = programs(README)
    lines = [line for line in program.run.splitlines() if line.strip()]
    assert len(lines) <= 11, "ten, and the import"


def test_every_example_of_the_command_line_page_prints_what_it_says(shell: Shell) -> None:
    run_consoles(shell, CLI)


def test_the_readme_shows_lines_of_the_demo(shell: Shell) -> None:
    [shown] = blocks(README, "demo")
    printed = normal(shell.run("tether demo")).splitlines()
    assert [line for line in normal(shown).splitlines() if line not in printed] == []


def test_the_pages_that_the_readme_names_are_there() -> None:
    names = ["ARCHITECTURE.md", "docs/api.md", "docs/cli.md", "docs/rules.md", "docs/dependencies.md", "CHANGELOG.md"]
    assert [name for name in names if not (ROOT / name).is_file() or f"({name})" not in README] == []
