"""The small languages of extraction rules: `{…}` templates over JMESPath, and patterns of lines.

A template is text in which `{expression}` stands for what a JMESPath expression finds; `{{` and `}}` are braces. One
that is an expression and nothing else keeps the value's type; in longer text, texts stand as they are, numbers and
booleans as JSON, and anything else is a fault: a null would otherwise become part of a name without a word.

A line pattern is text in which `{name}` takes one or more characters that are no blanks, up to the first place where
the text after it stands, and `{name...}` at the end takes the rest; a run of blanks counts as one. It matches in time
linear in the line: no pattern can stall extraction, as regular expressions can. Rules are their operator's own words:
expressions are bounded in length, not in time.
"""

import json
import re
import warnings
from dataclasses import dataclass
from typing import Any, cast

import jmespath
from jmespath import exceptions, functions

from tether_schemas.fields import BadField

EXPRESSION_CHARS_MAX = 1_000
TEMPLATE_CHARS_MAX = 4_096
LINE_CHARS_MAX = 65_536

_jmespath = cast(Any, jmespath)
_signature = cast(Any, functions).signature
_TEXT = {"types": ["string"]}
_QUOTES = "'\"`"
_SLOT = re.compile(r"\{([a-z_][a-z0-9_]{0,63})(\.\.\.)?\}")
_BLANKS = re.compile(r"[ \t]+")


class Failed(ValueError):
    """An expression or a template cannot be evaluated over what a tool answered; the message says why."""


class _Functions(cast(type[Any], functions.Functions)):
    """JMESPath's own functions, and four on texts that its community edition has."""

    @_signature(_TEXT, _TEXT)
    def _func_split(self, subject: str, search: str) -> list[str]:
        return subject.split(search) if search else list(subject)

    @_signature(_TEXT, _TEXT, _TEXT)
    def _func_replace(self, subject: str, old: str, new: str) -> str:
        return subject.replace(old, new)

    @_signature(_TEXT)
    def _func_lower(self, subject: str) -> str:
        return subject.lower()

    @_signature(_TEXT)
    def _func_trim(self, subject: str) -> str:
        return subject.strip()


_OPTIONS = _jmespath.Options(custom_functions=_Functions())


@dataclass(frozen=True, slots=True)
class Expression:
    """One JMESPath expression, compiled."""

    text: str
    compiled: Any

    def find(self, context: dict[str, Any]) -> Any:
        """What it finds; None is null. Raises Failed."""
        try:
            return self.compiled.search(context, options=_OPTIONS)
        except exceptions.JMESPathError as error:
            raise Failed(f"{{{self.text}}}: {_one_line(error)}") from None
        except (TypeError, ValueError, ArithmeticError, LookupError, AttributeError, RecursionError) as error:
            # Functions of the library meet values that they do not expect; the evidence is recorded all the same.
            raise Failed(f"{{{self.text}}}: {type(error).__name__}: {_one_line(error)}") from None


def compile_expression(text: str) -> Expression:
    """Compile one expression. Raises BadField."""
    if len(text) > EXPRESSION_CHARS_MAX:
        raise BadField("", f"the expression is longer than {EXPRESSION_CHARS_MAX} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", PendingDeprecationWarning)
            compiled = _jmespath.compile(text)
        _check_functions(compiled.parsed)
    except PendingDeprecationWarning:
        raise BadField("", f"{{{text}}}: backticks hold JSON; write texts as 'text'") from None
    except (exceptions.JMESPathError, ValueError) as error:
        raise BadField("", f"{{{text}}} is no JMESPath expression: {_one_line(error)}") from None
    except RecursionError:
        raise BadField("", f"{{{text:.80}}} is nested too deeply") from None
    return Expression(text, compiled)


def _check_functions(node: Any) -> None:
    """Raise ValueError where a parsed expression calls what is no function, or with a wrong number of arguments."""
    inside: list[Any] = node["children"]
    if node["type"] == "function_expression":
        known = cast(Any, _Functions).FUNCTION_TABLE.get(node["value"])
        if known is None:
            raise ValueError(f"there is no function {node['value']}")
        wanted: Any = known["signature"]
        many = bool(wanted) and wanted[-1].get("variadic", False)
        if len(inside) < len(wanted) or (len(inside) > len(wanted) and not many):
            raise ValueError(f"{node['value']} takes {len(wanted)} {'or more ' if many else ''}arguments")
    for child in inside:
        if isinstance(child, dict):
            _check_functions(child)


@dataclass(frozen=True, slots=True)
class Template:
    """Text with expressions in it."""

    text: str
    parts: tuple[str | Expression, ...]

    def value(self, context: dict[str, Any]) -> Any:
        """What the template makes of a context. Raises Failed."""
        if len(self.parts) == 1 and isinstance(only := self.parts[0], Expression):
            return only.find(context)
        return "".join([part if isinstance(part, str) else _as_text(part, part.find(context)) for part in self.parts])

    def values(self, context: dict[str, Any]) -> list[Any]:
        """As `value`, but an expression that finds a list makes one value for each of its elements. Raises Failed."""
        found: list[Any] = [part if isinstance(part, str) else part.find(context) for part in self.parts]
        lists = [index for index, each in enumerate(found) if isinstance(each, list)]
        if len(lists) > 1:
            raise Failed(f"{self.text!r} finds two lists; only one can be gone through")
        if not lists:
            return [self._joined(found)]
        elements: list[Any] = found[lists[0]]
        return [self._joined([*found[: lists[0]], element, *found[lists[0] + 1 :]]) for element in elements]

    def _joined(self, found: list[Any]) -> Any:
        if len(found) == 1:
            if found[0] is None:
                raise Failed(f"{self.text} finds nothing")
            return found[0]
        pairs = zip(self.parts, found, strict=True)
        return "".join([each if isinstance(part, str) else _as_text(part, each) for part, each in pairs])


def parse_template(text: str) -> Template:
    """Read one template. Raises BadField."""
    if len(text) > TEMPLATE_CHARS_MAX:
        raise BadField("", f"the template is longer than {TEMPLATE_CHARS_MAX} characters")
    parts: list[str | Expression] = []
    literal: list[str] = []
    at = 0
    while at < len(text):
        if text[at : at + 2] in ("{{", "}}"):
            literal.append(text[at])
            at += 2
        elif text[at] == "{":
            end = _closing(text, at + 1)
            parts += ["".join(literal)] if literal else []
            literal = []
            parts.append(compile_expression(text[at + 1 : end]))
            at = end + 1
        elif text[at] == "}":
            raise BadField("", "a } without its {; write }} for a brace")
        else:
            literal.append(text[at])
            at += 1
    return Template(text, (*parts, *(["".join(literal)] if literal or not parts else [])))


def _closing(text: str, start: int) -> int:
    """Where the expression that begins at `start` ends: at the } that is neither quoted nor of a { inside."""
    depth, quote, at = 0, "", start
    while at < len(text):
        char = text[at]
        if quote:
            if char == "\\":
                at += 1
            elif char == quote:
                quote = ""
        elif char in _QUOTES:
            quote = char
        elif char == "{":
            depth += 1
        elif char == "}":
            if depth == 0:
                return at
            depth -= 1
        at += 1
    raise BadField("", "a { without its }; write {{ for a brace")


def _as_text(expression: Expression, value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    raise Failed(f"{{{expression.text}}} finds {_kind(value)} where text is needed")


def _kind(value: Any) -> str:
    return "nothing" if value is None else "a list" if isinstance(value, list) else "an object"


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]


@dataclass(frozen=True, slots=True)
class LinePattern:
    """A pattern of lines: (text before, name) for each place, and what stands after the last one."""

    places: tuple[tuple[str, str], ...]
    tail: str
    takes_rest: bool

    def match(self, line: str) -> dict[str, str] | None:
        """What stands at each place of a line, blanks around it left out; None where the line does not fit."""
        line = _BLANKS.sub(" ", line.strip())
        befores = [before for before, _ in self.places] + [self.tail]
        if len(line) > LINE_CHARS_MAX or not line.startswith(befores[0]):
            return None
        found: dict[str, str] = {}
        at = len(befores[0])
        for index, (_, name) in enumerate(self.places):
            after = befores[index + 1]
            last = index == len(self.places) - 1
            end = len(line) - len(after) if last else line.find(after, at + 1)
            taken = line[at:end]
            if end <= at or (last and not line.endswith(after)) or (" " in taken and not (last and self.takes_rest)):
                return None
            found[name] = taken
            at = end + len(after)
        return found


def parse_lines(text: str) -> LinePattern:
    """Read one line pattern. Raises BadField."""
    if len(text) > TEMPLATE_CHARS_MAX:
        raise BadField("", f"the pattern is longer than {TEMPLATE_CHARS_MAX} characters")
    pieces = _SLOT.split(_BLANKS.sub(" ", text.strip()))
    befores, names, rests = pieces[::3], pieces[1::3], pieces[2::3]
    if not names:
        raise BadField("", "the pattern names nothing; write {name} where a line has something to take")
    if len(set(names)) != len(names):
        raise BadField("", "the pattern names a place twice")
    if "" in befores[1:-1]:
        raise BadField("", "two places touch; there is no telling where one ends")
    if any(rests[:-1]) or (rests[-1] and befores[-1]):
        raise BadField("", "{name...} takes the rest of the line, so it stands last")
    if any(brace in before for before in befores for brace in "{}"):
        raise BadField("", "a brace that is no {name}; names are lower case letters, digits and _")
    return LinePattern(tuple(zip(befores[:-1], names, strict=True)), befores[-1], bool(rests[-1]))
