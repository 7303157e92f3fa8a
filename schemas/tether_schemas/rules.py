"""Extraction rules as a document (docs/rules.md): which results of whose tools say what. Closed, versioned, bounded."""

import tomllib
from collections.abc import Callable
from typing import Annotated, Any, Literal, cast

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, Strict, ValidationError, model_validator

from tether_schemas.canonical import NotJson, check_json
from tether_schemas.fields import BadField, Name, first_fault
from tether_schemas.policy import Mode
from tether_schemas.templates import compile_expression, parse_lines, parse_template

RULES_VERSION = 1
RULES_MAX = 200
PREMISE_TEMPLATES_MAX = 100


def _checked(parse: Callable[[str], object]) -> AfterValidator:
    def check(text: str) -> str:
        parse(text)
        return text

    return AfterValidator(check)


def _check_inside(value: Any) -> Any:
    if isinstance(value, str):
        parse_template(value)
    elif isinstance(value, dict):
        for inner in cast(dict[str, Any], value).values():
            _check_inside(inner)
    elif isinstance(value, list):
        for inner in cast(list[Any], value):
            _check_inside(inner)
    return cast(Any, value)


Text = Annotated[str, _checked(parse_template)]
Query = Annotated[str, _checked(compile_expression)]
Lines = Annotated[str, _checked(parse_lines)]
Texts = Annotated[tuple[Text, ...], Strict(False)]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class AssertionTemplate(_Model):
    """The fields of `memory.write`, as templates; `premises` are its `derived_from`."""

    subject: Text
    predicate: Text
    value: Annotated[Any, AfterValidator(_check_inside)]
    scope: Text | None = None
    issuer: Text | None = None
    memory_type: Text | None = None
    mode: Mode = "extracted"
    valid_from: Text | None = None
    valid_to: Text | None = None
    observed_at: Text | None = None
    expires_at: Text | None = None
    authority: Text | None = None
    confidence: float | Text | None = None
    sensitivity: Text | None = None
    readers: Texts | None = None
    premises: Texts = Field(default=(), max_length=PREMISE_TEMPLATES_MAX)
    premises_complete: bool | Text = False
    original_text: Text | None = None
    write_reason: Text | None = None
    review_at: Text | None = None


class LinkTemplate(_Model):
    """The fields of `memory.link`, as templates."""

    dependent: Text
    premises: Texts = Field(min_length=1, max_length=PREMISE_TEMPLATES_MAX)
    grade: Literal["stated", "possible"] = "stated"


class Rule(_Model):
    """One rule: of which results, of what in them, and what that says."""

    name: Name
    tool: Name
    source: Name | None = None
    when: Query | None = None
    each: Query | None = None
    lines: Lines | None = None
    text: Query | None = None
    where: Query | None = None
    assertion: AssertionTemplate | None = None
    link: LinkTemplate | None = None

    @model_validator(mode="after")
    def _whole(self) -> "Rule":
        if self.assertion is None and self.link is None:
            raise BadField("assertion", "is missing; a rule makes an assertion, a link or both")
        if self.each is not None and self.lines is not None:
            raise BadField("lines", "goes without each: either the elements of a list or the lines of a text")
        if self.text is not None and self.lines is None:
            raise BadField("text", "goes with lines: it says which text they are of")
        if self.where is not None and self.each is None and self.lines is None:
            raise BadField("where", "chooses among items; without each or lines, write when")
        return self


class RulesDocument(_Model):
    """All rules of one decision. The latest document of a namespace replaces the one before."""

    version: Literal[1]
    rules: Annotated[tuple[Rule, ...], Strict(False)] = Field(max_length=RULES_MAX)

    @model_validator(mode="after")
    def _names(self) -> "RulesDocument":
        names = [rule.name for rule in self.rules]
        for index, name in enumerate(names):
            if name in names[:index]:
                raise BadField(f"rules.{index}.name", f"{name!r} is taken by another rule of this document")
        return self


def check_rules(document: dict[str, Any]) -> RulesDocument:
    """The document as models. Raises BadField naming the field, such as rules.0.assertion.subject."""
    try:
        check_json(document)
        return RulesDocument.model_validate(document)
    except NotJson as error:
        raise BadField(error.path, error.reason) from None
    except ValidationError as error:
        raise first_fault(error) from None


def rules_of_toml(text: str) -> dict[str, Any]:
    """The document that a TOML text holds, checked. Raises BadField."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadField("", f"is no TOML: {error}") from None
    check_rules(document)
    return document
