"""A check is silenced by its code and with a reason, on the line itself, never for a whole file."""

import io
import re
import tokenize

import pytest

from tests.house.source import Module, modules, none

SILENCER = re.compile(r"#\s*(?:type:\s*ignore|pyright:|noqa|ruff:)")
# The code, then why: `# pyright: ignore[reportPrivateUsage]  the double reads what the port hides`.
EXPLAINED = re.compile(
    r"#\s*(?:pyright:\s*ignore\[[\w, ]+\]|noqa:\s*[A-Z]+\d+(?:,\s*[A-Z]+\d+)*)\s*[#:—-]*\s+\w+\s+\w+"
)


def ignore_faults(module: Module) -> list[str]:
    tokens = tokenize.generate_tokens(io.StringIO(module.text).readline)
    comments = [(token.start[0], token.string) for token in tokens if token.type == tokenize.COMMENT]
    return [
        f"{module.path}:{line} silences a check without its code and a reason: {comment}"
        for line, comment in comments
        if SILENCER.search(comment) and not EXPLAINED.search(comment)
    ]


def test_no_check_is_silenced_without_a_code_and_a_reason() -> None:
    none([fault for module in modules() for fault in ignore_faults(module)])


@pytest.mark.parametrize(
    "comment",
    [
        "# type: ignore",
        "# type: ignore[attr-defined] because of the stubs",
        "# pyright: ignore",
        "# pyright: ignore[reportPrivateUsage]",
        "# pyright: basic",
        "# noqa",
        "# noqa: E501",
        "# ruff: noqa",
    ],
)
def test_a_bare_silencer_is_found(comment: str) -> None:
    assert ignore_faults(Module("tether/x.py", f"x = 1  {comment}\n"))


@pytest.mark.parametrize(
    "text",
    [
        "x = 1  # pyright: ignore[reportPrivateUsage]  the double reads what the port hides\n",
        "x = 1  # noqa: E501 - the table stays readable\n",
        "x = '# type: ignore'\n",
    ],
)
def test_an_explained_silencer_is_no_fault(text: str) -> None:
    assert not ignore_faults(Module("tether/x.py", text))
