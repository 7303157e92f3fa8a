"""Policy: what predicates, schemes and sources mean. It enters the log as decisions, like everything else."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Authority = Literal["unknown", "inferred", "user-direct", "system-of-record"]
Mode = Literal["synthesized", "inferred", "extracted", "explicit"]

# Higher counts more (design, part 2, B).
AUTHORITY_RANK: dict[str, int] = {"unknown": 0, "inferred": 1, "user-direct": 2, "system-of-record": 3}
MODE_RANK: dict[str, int] = {"synthesized": 0, "inferred": 1, "extracted": 2, "explicit": 3}


class PredicatePolicy(BaseModel):
    """What one predicate means. The default: no verdict, one value, does not rest on its subject."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    verdict: bool = False
    many: bool = False
    rests_on_subject: bool = False
    possible: Literal["keep", "withdraw"] = "keep"
    decay_days: float | None = Field(default=None, gt=0)
    impact: Literal["low", "medium", "high"] = "medium"


class SchemePolicy(BaseModel):
    """Whether names of a scheme carry versions, and whether a higher version on record retires a lower one."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    versioned: bool = True
    higher_version: bool = False


class SourcePolicy(BaseModel):
    """How far one source's word goes, and whose statements its statements are (one issuer across sources)."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    authority_max: Authority | None = None
    issuer: str | None = None


class Policy(BaseModel):
    """One policy, whole. The latest of a namespace lies over the latest of `*`, which lies over DEFAULT, key by key."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    predicates: dict[str, PredicatePolicy] = Field(default_factory=dict[str, PredicatePolicy])
    schemes: dict[str, SchemePolicy] = Field(default_factory=dict[str, SchemePolicy])
    sources: dict[str, SourcePolicy] = Field(default_factory=dict[str, SourcePolicy])

    def over(self, below: "Policy") -> "Policy":
        """This policy laid over `below`: its keys win, the others stay."""
        return Policy(
            predicates={**below.predicates, **self.predicates},
            schemes={**below.schemes, **self.schemes},
            sources={**below.sources, **self.sources},
        )

    def predicate(self, name: str) -> PredicatePolicy:
        """The policy of a predicate, the default where none is declared."""
        return self.predicates.get(name, PLAIN_PREDICATE)


PLAIN_PREDICATE = PredicatePolicy()

DEFAULT = Policy(
    predicates={"passes": PredicatePolicy(verdict=True)},
    schemes={"pkg": SchemePolicy(), "item": SchemePolicy(higher_version=True)},
)
