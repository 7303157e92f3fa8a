"""Extraction rules, applied: from anybody's tool results to assertions and links, as declared (docs/rules.md)."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import translate
from typing import Any, cast

from tether_schemas.builtin import MEMORY_LINK, MEMORY_WRITE, BuiltIn, read_arguments
from tether_schemas.canonical import NotJson, check_json, content_id
from tether_schemas.events import ToolResultEvent
from tether_schemas.fields import BadField
from tether_schemas.rules import AssertionTemplate, LinkTemplate, Rule, check_rules
from tether_schemas.templates import (
    Expression,
    Failed,
    LinePattern,
    Template,
    compile_expression,
    parse_lines,
    parse_template,
)

ITEMS_MAX = 100_000
FAULTS_PER_RULE_MAX = 10
_LISTS = {"premises", "readers"}
_NEEDED = {"subject", "predicate", "value", "dependent"}

Context = dict[str, Any]
Maker = Callable[[Context], Any]


@dataclass(frozen=True, slots=True)
class Found:
    """What one rule made of a result: an assertion, a link, or the reason why neither."""

    rule: str
    made: BuiltIn | str


@dataclass(frozen=True, slots=True)
class RuleSet:
    """The rules in force, compiled. `version` is the content hash of their document (of both, joined by `+`)."""

    version: str
    rules: "tuple[CompiledRule, ...]"

    @staticmethod
    def compile(document: dict[str, Any]) -> "RuleSet":
        """Compile a rules document. Raises BadField naming the field."""
        rules = tuple(CompiledRule.of(rule) for rule in check_rules(document).rules)
        return RuleSet(content_id("ru", document), rules)

    def before(self, other: "RuleSet | None") -> "RuleSet":
        """Both sets, these rules first: a namespace's own before those of `*`."""
        return self if other is None else RuleSet(f"{self.version}+{other.version}", (*self.rules, *other.rules))

    def apply(self, event: ToolResultEvent) -> Iterator[Found]:
        """What the rules make of one result, in order. At most FAULTS_PER_RULE_MAX reasons are told of each rule."""
        for rule in self.rules:
            if rule.concerns(event):
                yield from _told(rule.name, rule.apply(_context(event)))


def _context(event: ToolResultEvent) -> Context:
    data = event.data
    about = {
        "namespace": event.namespace,
        "source": event.source,
        "id": event.id,
        "time": event.time,
        "subject": event.subject,
        "session_id": data.session_id,
        "call_id": data.call_id,
        "tool": data.tool,
    }
    return {"arguments": data.arguments, "result": data.result, "event": about, "item": None}


def _told(rule: str, made: Iterator[BuiltIn | str]) -> Iterator[Found]:
    faults = 0
    for each in made:
        faults += isinstance(each, str)
        if faults <= FAULTS_PER_RULE_MAX or not isinstance(each, str):
            yield Found(rule, each)
    if faults > FAULTS_PER_RULE_MAX:
        yield Found(rule, f"and {faults - FAULTS_PER_RULE_MAX} more items of this result")


@dataclass(frozen=True, slots=True)
class CompiledRule:
    """One rule, ready to be applied."""

    name: str
    tool: re.Pattern[str]
    source: re.Pattern[str] | None
    when: Expression | None
    each: Expression | None
    lines: LinePattern | None
    where: Expression | None
    write: dict[str, Maker] | None
    link: dict[str, Maker] | None

    @staticmethod
    def of(rule: Rule) -> "CompiledRule":
        """Compile a rule that RulesDocument let pass."""
        return CompiledRule(
            name=rule.name,
            tool=re.compile(translate(rule.tool)),
            source=None if rule.source is None else re.compile(translate(rule.source)),
            when=None if rule.when is None else compile_expression(rule.when),
            each=compile_expression(rule.each or rule.text or "result") if rule.each or rule.lines else None,
            lines=None if rule.lines is None else parse_lines(rule.lines),
            where=None if rule.where is None else compile_expression(rule.where),
            write=None if rule.assertion is None else _makers(rule.assertion),
            link=None if rule.link is None else _makers(rule.link),
        )

    def concerns(self, event: ToolResultEvent) -> bool:
        """Whether the result is of a tool and a source that the rule names."""
        if self.tool.match(event.data.tool) is None:
            return False
        return self.source is None or self.source.match(event.source) is not None

    def apply(self, context: Context) -> Iterator[BuiltIn | str]:
        """What the rule makes of a result: assertions, links, and reasons where an item fails. Never raises."""
        try:
            items = self._items(context) if self.when is None or _holds(self.when.find(context)) else []
        except Failed as error:
            yield str(error)
            return
        for item in items:
            inside = {**context, "item": item}
            try:
                chosen = self.where is None or _holds(self.where.find(inside))
            except Failed as error:
                yield f"where: {error}"
                continue
            if chosen and self.write is not None:
                yield _made(MEMORY_WRITE, self.write, inside)
            if chosen and self.link is not None:
                yield _made(MEMORY_LINK, self.link, inside)

    def _items(self, context: Context) -> list[Any]:
        if self.each is None:
            return [None]
        found = self.each.find(context)
        if self.lines is not None:
            if not isinstance(found, str):
                raise Failed(f"lines: {{{self.each.text}}} is no text")
            matches = [self.lines.match(line) for line in found.split("\n")]
            items: list[Any] = [match for match in matches if match is not None]
        elif isinstance(found, list):
            items = cast(list[Any], found)
        else:
            raise Failed(f"each: {{{self.each.text}}} finds no list; where there may be none, write … || `[]`")
        if len(items) > ITEMS_MAX:
            raise Failed(f"{len(items)} items are more than {ITEMS_MAX}; split the result")
        return items


def _holds(value: Any) -> bool:
    """JMESPath's truth: false, null, and empty texts, lists and objects are false; zero is true."""
    return value is not None and value is not False and value != "" and value != [] and value != {}


def _made(tool: str, makers: dict[str, Maker], context: Context) -> BuiltIn | str:
    arguments: dict[str, Any] = {}
    for field, make in makers.items():
        try:
            value = make(context)
        except Failed as error:
            return f"{field}: {error}"
        if value is not None or field in _NEEDED:
            arguments[field] = value
    if "premises" in arguments and tool == MEMORY_WRITE:
        arguments["derived_from"] = arguments.pop("premises")
    try:
        check_json(arguments)
        made = read_arguments(tool, arguments)
    except NotJson as error:
        return str(error)
    except BadField as error:
        return str(error).replace("derived_from", "premises", 1)
    assert made is not None  # both are tools of Tether's own
    return made


def _makers(template: AssertionTemplate | LinkTemplate) -> dict[str, Maker]:
    values = {field: getattr(template, field) for field in type(template).model_fields}
    return {field: _maker(field, value) for field, value in values.items() if value is not None and value != ()}


def _maker(field: str, value: Any) -> Maker:
    if field in _LISTS:
        templates = [parse_template(text) for text in value]
        return lambda context: [each for template in templates for each in template.values(context)]
    if isinstance(value, str):
        return parse_template(value).value
    if isinstance(value, list | dict):
        return _inside(value)
    return lambda _: value


def _inside(value: Any) -> Maker:
    """A value whose texts, however deep, are templates."""
    if isinstance(value, dict):
        fields = {name: _inside(inner) for name, inner in cast(dict[str, Any], value).items()}
        return lambda context: {name: make(context) for name, make in fields.items()}
    if isinstance(value, list):
        elements = [_inside(inner) for inner in cast(list[Any], value)]
        return lambda context: [make(context) for make in elements]
    template: Template | None = parse_template(value) if isinstance(value, str) else None
    return (lambda _: value) if template is None else template.value
