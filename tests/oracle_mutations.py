"""Changes of the oracle, one sentence of the rule each, that its cases and claims must catch.

A change is of text: `old` stands once in the module and is replaced by `new`; the changed modules are then run.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

from tests.oracle import Oracle

MODULES = ("oracle_slots", "oracle_rule", "oracle")
HERE = Path(__file__).parent


@dataclass(frozen=True)
class Mutation:
    """What the changed rule says, and the change of one module that makes it say so."""

    says: str
    module: str
    old: str
    new: str


def mutant(mutation: Mutation, patch: pytest.MonkeyPatch) -> type[Oracle]:
    """The oracle that this change makes."""
    for name in MODULES:
        path = HERE / f"{name}.py"
        text = path.read_text("utf-8")
        if name == mutation.module:
            assert text.count(mutation.old) == 1, f"{mutation.says}: stands {text.count(mutation.old)} times"
            text = text.replace(mutation.old, mutation.new)
        module = ModuleType(f"tests.{name}")
        patch.setitem(sys.modules, module.__name__, module)
        exec(compile(text, str(path), "exec"), module.__dict__)
    return sys.modules["tests.oracle"].Oracle


def _of(module: str, *changes: tuple[str, str, str]) -> list[Mutation]:
    return [Mutation(says, module, old, new) for says, old, new in changes]


COUNTS = _of(
    "oracle_rule",
    ("the last recorded of two contents counts", "record.rank < first[key].rank", "record.rank > first[key].rank"),
    ("I-8: every namespace is seen", "record.namespace in (namespace, PUBLIC)", "True"),
    ("the earliest policy counts", "rank > latest[own][0]", "rank < latest[own][0]"),
    ("the policy of all lies over a namespace's own", "in sorted(latest)", "in sorted(latest, reverse=True)"),
    ("decisions apply to deletions", "EvidenceDeleted | Decided | PolicyDeclared) for fact in record",
     "Decided | PolicyDeclared) for fact in record"),
    ("a decision of all covers what a namespace says", "record.namespace != PUBLIC:\n", "False:\n"),
    ("a namespace decides nothing on public advisories", "other.namespace == PUBLIC and record.namespace != PUBLIC",
     "other.namespace != record.namespace"),
    ("the earliest decision counts", "max(covering)[1]", "min(covering)[1]"),
    ("what was ever invalidated stays so", 'max(covering)[1] == "invalidate"',
     '"invalidate" in dict(covering).values()'),
    ("a decision on a source covers what comes later", "and record.time_us <= other.time_us", ""),
    ("a decision on a source ends before its own time", "record.time_us <= other.time_us",
     "record.time_us < other.time_us"),
    ("a decision on an assertion covers its whole evidence", 'hit = target.assertion == names.get("claim")',
     'hit = any(getattr(f, "assertion_id", "") == target.assertion for f in record.facts)'),
    ("a decision on an advisory covers nothing", 'hit = target.advisory == names.get("advisory")', "hit = False"),
    ("an invalidated link counts", "(not self._invalid(record, claim=link.link_id), link)", "(True, link)"),
    ("an impossible verdict counts", "impossible = rules.verdict and", "impossible = False and"),
    ("a policy caps no authority", "min(AUTHORITY_RANK[fact.authority], capped)", "AUTHORITY_RANK[fact.authority]"),
    ("a policy declares no issuer", "if source and source.issuer else", "if False else"),
    ("an issuer is one in all sources", '("within", record.source, fact.issuer)', '("within", fact.issuer)'),
    ("a scope is no slot of its own", "slot=(fact.scope, subject", 'slot=("", subject'),
    ("many values share a slot", 'key if rules.many else ""', '""'),
)  # fmt: skip

ERASED = _of(
    "oracle_rule",
    ("a deletion ends before its own time", "record.time_us > until_us", "record.time_us >= until_us"),
    ("every deletion is for ever", "record.time_us > until_us", "False"),
    ("a deletion of a session is of its source", "(whole or target.session_id in sessions)", "True"),
    ("a deletion of a subject is of the named version", "(every and about.base == wanted.base)", "False"),
    ("a deletion of a version is of them all", "(every and about.base == wanted.base)", "about.base == wanted.base"),
    ("a later policy ends a deletion", "frozenset(ever)", "self.versioned"),
    ("erasure is not transitive", "if all(said.id in self.erased for said in derived)", "if True"),
    ("a summary of deleted evidence stays", '{("assertion", name) for name in self.erased} | self.deleted',
     '{("assertion", name) for name in self.erased}'),
    ("evidence is erased with all its assertions only", "for node, claims in self.made.items() if any(",
     "for node, claims in self.made.items() if all("),
    ("a possible premise erases", "said.on_record & {(node, True) for node in gone}",
     "{n for n, _ in said.on_record} & gone"),
    ("an invalidated link erases nothing", "invalid=True)", "invalid=False)"),
    ("links erase nothing",
     "derived = [said for said in self.said.values() if said.on_record & {(node, True) for node in gone}]",
     "derived = [said for said in self.said.values() if {node_of(ref) for ref in said.fact.premises} & gone]"),
    ("an object that is bad erases", 'gone: set[Node] = {("assertion", name) for name in self.erased} | self.deleted',
     "gone: set[Node] = {n for s in self.said.values() if s.id in self.erased for n in (s.node, s.own_subject)} | "
     "self.deleted"),
    ("ghosts do not count", "if not said.interval])", "if not said.interval and said.id not in self.erased])"),
    ("ghosts are no derivations", "if said.counts for edge in",
     "if said.counts and said.id not in self.erased for edge in"),
)  # fmt: skip

SLOTS = _of(
    "oracle_slots",
    ("a later statement of lower authority succeeds", " and other.authority >= one.authority", ""),
    ("only higher authority succeeds", "other.authority >= one.authority", "other.authority > one.authority"),
    ("what is restated is superseded", "if other.value_key != one.value_key:", "if True:"),
    ("nothing is superseded", "if other.value_key != one.value_key:", "if False:"),
    ("anybody succeeds anybody", "other.issuer == one.issuer and ", ""),
    ("only what is present stands", "standing = [said for said in counting if said.id not in superseded]",
     "standing = present"),
    ("what is superseded stands", "standing = [said for said in counting if said.id not in superseded]",
     "standing = counting"),
    ("a verdict that does not count holds", "if said.counts]", "]"),
    ("succession goes by arrival", "return self.observed_us, self.source, self.event, self.fact.place",
     'return self.observed_us, "", "", 0'),
    ("succession goes by the id before the source",
     "self.observed_us, self.source, self.event, self.fact.place\n\n    @property\n    def pair",
     "self.observed_us, self.event, self.source, self.fact.place\n\n    @property\n    def pair"),
    ("equal authority lifts", "any(other.authority > said.authority for",
     "any(other.authority >= said.authority for"),
    ("an earlier true one lifts", " and other.order > said.order]", "]"),
    ("only the earliest present verdict is looked at", "for said in present:\n",
     "for said in sorted(present, key=lambda one: one.order)[:1]:\n"),
    ("a true verdict holds over a false one", "if said.fact.value is False:",
     "if not any(one.fact.value for one in present):"),
    ("explicitness goes before authority", "return self.authority, MODE_RANK[self.fact.mode]",
     "return MODE_RANK[self.fact.mode], self.authority"),
    ("a retelling counts", "set() if said.retold else {said.issuer}", "{said.issuer}"),
    ("a repetition counts", "else {said.issuer}", "else {(*said.issuer, said.id)}"),
    ("an object premise makes a retelling", 'any(stated and node[0] != "object" for', "any(stated for"),
    ("a possible premise makes a retelling", 'any(stated and node[0] != "object" for', 'any(node[0] != "object" for'),
    ("issuers of weaker statements count", "if said.pair == best:", "if True:"),
    ("a tie goes to the value that came last",
     "return frozenset(value for value, names in issuers.items() if max(1, len(names)) == most)",
     "return frozenset([value for value, names in issuers.items() if max(1, len(names)) == most][-1:])"),
    ("a value that is only retold loses a tie",
     "most = max((max(1, len(names)) for names in issuers.values()), default=0)\n    return frozenset(value for "
     "value, names in issuers.items() if max(1, len(names)) == most)",
     "most = max((len(names) for names in issuers.values()), default=0)\n    return frozenset(value for value, "
     "names in issuers.items() if len(names) == most)"),
    ("an interval ends at its end", "at_us < time_us(self.fact.valid_to)", "at_us <= time_us(self.fact.valid_to)"),
    ("an interval begins after its beginning", "since <= at_us", "since < at_us"),
    ("a statement is valid before it was observed", "self.observed_us if self.fact.valid_from is None else",
     "0 if self.fact.valid_from is None else"),
    ("what expires is expired after that moment", "time_us(self.fact.expires_at) <= at_us",
     "time_us(self.fact.expires_at) < at_us"),
    ("valid from its observation is an interval", "> self.observed_us", ">= self.observed_us"),
    ("valid from later is no interval", "return self.fact.valid_to is not None or late",
     "return self.fact.valid_to is not None"),
)  # fmt: skip

BAD = _of(
    "oracle_rule",
    ("statements with an interval supersede", "if not said.interval])", "])"),
    ("statements with an interval are superseded", '"standing" if said.interval and said.counts else ', ""),
    ("what is tombstoned is not bad", '{("tombstoned",)} if said.id in self.erased else set()', "set()"),
    *((f"what is {name} is not bad", '- {("standing",)}', f'- {{("standing",), ("{name}",)}}')
      for name in ("superseded", "outranked", "disputed", "invalidated")),
    ("invalidated evidence is not bad", "if self._invalid(record):", "if False:"),
    ("deleted evidence is not bad", "for node in self.deleted:\n", "for node in set[Node]():\n"),
    ("only evidence on record is deleted", "if isinstance(deletion.target, EvidenceTarget):", "if False:"),
    ("evidence of erased assertions is not bad", "if claims and all(said.id in self.erased for said in claims):",
     "if False:"),
    ("evidence of one erased assertion is bad", "if claims and all(said", "if claims and any(said"),
    ("a false verdict that is lifted is a failure", 'said.rules.verdict and "false" in now.held',
     "said.rules.verdict"),
    ("false of any predicate is a failure", 'said.rules.verdict and "false" in now.held', '"false" in now.held'),
    ("a true verdict that does not hold is on record", 'said.rules.verdict and "true" in now.held and',
     "said.rules.verdict and said.fact.value and"),
    ("any statement about a higher version is on record", 'said.rules.verdict and "true" in now.held and', ""),
    ("a failed upgrade is on record", 'said.rules.verdict and "true" in now.held and', "said.rules.verdict and"),
    ("a higher version retires in every scheme", "not scheme.higher_version or", "False or"),
    ("bases are not compared", "or higher.base != lower.base", ""),
    ("versions without order are retired", "pep440_greater(higher.version, lower.version) is True",
     "pep440_greater(higher.version, lower.version) is not False"),
    ("versions are ordered as text", "pep440_greater(higher.version, lower.version) is True",
     "higher.version > lower.version"),
    ("a withdrawn advisory still covers", "issued.withdrawn is None and", ""),
    ("a withdrawn revision is passed over", "if key not in latest or rank > latest[key][0]:",
     "if issued.withdrawn is None:"),
    ("the first revision covers", "rank > latest[key][0]:\n                latest[key] = (rank, issued)",
     "rank < latest[key][0]:\n                latest[key] = (rank, issued)"),
    ("an advisory of another source is the same", "(record.namespace, record.source, issued.advisory_id), (at_us",
     '(record.namespace, "", issued.advisory_id), (at_us'),
    ("revisions go by the events' times",
     "time_us(issued.modified) if int(issued.modified[:4]) > 1 else record.time_us",
     "record.time_us"),
    ("the year 1 is a time like others", "if int(issued.modified[:4]) > 1 else record.time_us", ""),
    ("invalidated advisories cover", "if self._invalid(record, advisory=issued.advisory_id):", "if False:"),
    ("a revocation is of the named text only", "or (every and named.base == subject.base)", ""),
    ("a revocation of a version is of them all", "(every and named.base == subject.base)",
     "named.base == subject.base"),
    ("OSV covers nothing", "return version is not None and any(", "return False and any("),
    ("OSV covers a package whole", ' and covers(entry, version).verdict == "affected"', ""),
)  # fmt: skip

REACHED = _of(
    "oracle_rule",
    ("what does not count is a derivation", "for said in self.said.values() if said.counts for edge",
     "for said in self.said.values() for edge"),
    ("failures reach one hop", "(premise in reached or (", "(("),
    ("possible edges withdraw", "if (stated or possible)", "if True"),
    ("no possible edge threatens", "if (stated or possible)", "if stated"),
    ("what is threatened counts possible edges only", "if (stated or possible)", "if (stated != possible)"),
    ("no policy lets possible edges withdraw", 'stated = grade or said.rules.possible == "withdraw"',
     "stated = grade"),
    ("rule 1: only verdicts rest on their premises", 'if not (said.rules.verdict and premise[0] == "object"):',
     "if False:"),
    ("rule 2: an object premise is the verdict's alone", "yield said.own_subject, premise, stated",
     "yield said.node, premise, stated"),
    ("rule 2: only of present verdicts", '(premise[0] == "object" or self.speaks(said))', "self.speaks(said)"),
    ("rule 2: of any assertion", 'if said.rules.verdict and (premise[0] == "object" or self.speaks(said)):',
     'if premise[0] == "object" or self.speaks(said):'),
    ("rule 3: a content premise is the verdict's alone", '(premise[0] == "object" or self.speaks(said))',
     'premise[0] == "object"'),
    ("rule 3: of every verdict", '(premise[0] == "object" or self.speaks(said))', "True"),
    ("rule 3: also when succeeded", "return said in present and not above", "return not above"),
    ("rule 3: also when another has higher authority", "return said in present and not above",
     "return said in present"),
    ("rule 3: not when another value has higher authority", "other.value_key == said.value_key and ", ""),
    ("rule 3: not when another has equal authority", "other.authority > said.authority]",
     "other.authority >= said.authority and other is not said]"),
    ("rule 4: no assertion rests on its subject", "if said.rules.verdict or said.rules.rests_on_subject:",
     "if False:"),
    ("rule 4: only verdicts do", "if said.rules.verdict or said.rules.rests_on_subject:", "if said.rules.verdict:"),
    ("rule 4: every assertion does", "if said.rules.verdict or said.rules.rests_on_subject:", "if True:"),
    ("rule 5: dropped", 'if premise[0] != "assertion" or self.bad.get(premise, set()) & NO_BELIEF:', "if True:"),
    ("a link says nothing of an assertion that is not on record",
     'if link.dependent.kind == "assertion" and link.dependent.text not in self.said:', "if False:"),
    ("rule 5: of every slot", "return other is not None and other.slot == said.slot", "return True"),
    ("rule 5: of no slot", "return other is not None and other.slot == said.slot", "return False"),
    ("rule 5: not to the subject-version", "return said.rules.verdict and dependent == said.own_subject",
     "return False"),
    ("rule 5: to every subject-version", "return said.rules.verdict and dependent == said.own_subject",
     "return said.rules.verdict"),
    ("rule 5: of what is no verdict too", "return said.rules.verdict and dependent == said.own_subject",
     "return dependent == said.own_subject"),
    ("rule 5: what is invalidated or tombstoned too", " or self.bad.get(premise, set()) & NO_BELIEF", ""),
    ("rule 5: what reaches the quoted stays behind",
     "(premise in reached or (premise in self.bad and not self.quotes(dependent, premise)))",
     "(premise in reached or premise in self.bad) and not self.quotes(dependent, premise)"),
    ("evidence stands for itself alone", "return [premise, *(said.node for said in self.made.get(premise, []))]",
     "return [premise]"),
    ("evidence stands for its assertions alone", "return [premise, *(said.node",
     'return [*([premise] if premise[0] != "evidence" else []), *(said.node'),
    ("evidence is no dependent", 'in (("assertion", fact.assertion_id), evidence)',
     'in (("assertion", fact.assertion_id),)'),
    ("a link adds nothing to an object", 'if counts and link.dependent.kind == "object":', "if False:"),
    ("a link to an object counts though invalidated", 'if counts and link.dependent.kind == "object":',
     'if link.dependent.kind == "object":'),
    ("a link to an object is stated", 'premise, link.grade == "stated"))', "premise, True))"),
)  # fmt: skip

SERVED = _of(
    "oracle",
    ("what is erased is shown", "whole = [said for said in held if said.id not in self.erased]", "whole = held"),
    ("I-6: ghosts do not count at read", "if said.valid(at_us)])",
     "if said.valid(at_us) and said.id not in self.erased])"),
    ("intervals do not count at read", "if said.valid(at_us)])", "])"),
    ("one of two disputed values is served", "if len(now.held) > 1:", "if False:"),
    ("what is expired is served", "fresh = [said for said in whole if not said.expired(at_us)]", "fresh = whole"),
    ("what is expired is withdrawn", 'self._shown("expired", whole', 'self._shown("withdrawn", whole'),
    ("withdrawn goes before expired", 'self._shown("expired", whole',
     'self._shown("withdrawn" if whole[0].node in self.reached else "expired", whole'),
    ("a held false is withdrawn", "if failed:", "if False:"),
    ("false of any predicate is served", "failed = held[0].rules.verdict and", "failed ="),
    ("what is reached is served", "good = [said for said in fresh if said.node not in self.reached]", "good = fresh"),
    ("all support must stand", "if not good:", "if good != fresh:"),
    ("something weaker is promoted", "held = [said for said in now.standing if said.value_key in now.held]",
     "held = now.standing"),
    ("now is the latest event alone", "return max(self.now_us, *(said.observed_us for said in self.of(slot)))",
     "return self.now_us"),
    ("one threatened support threatens", "if all(said.node in self.threatened for said in good)",
     "if any(said.node in self.threatened for said in good)"),
    ("nothing is threatened", "if all(said.node in self.threatened for said in good)", "if False"),
    ("all must say that their premises are complete", "complete = any(", "complete = all("),
    ("what is not valid yet is invalidated", '"unknown" if any(said.counts for said in self.of(slot)) else', ""),
    ("what is invalidated is unknown", '"unknown" if any(said.counts for said in self.of(slot)) else "invalidated"',
     '"unknown"'),
    ("an alternative shows what is erased", " and said.id not in self.erased:", ":"),
    ("the first statement is shown", "best = max(said, key=Said.shown_rank)",
     "best = min(said, key=Said.shown_rank)"),
    ("a value is given though it is not current", 'best.fact.value if status == "current" else None',
     "best.fact.value"),
    ("of many values the worst status is answered", "best = min((answer.status for", "best = max((answer.status for"),
    ("I-9: no cause is named", "for (kind, node), distance in found.items()",
     "for (kind, node), distance in list(found.items())[:0]"),
)  # fmt: skip

MUTATIONS = [*COUNTS, *ERASED, *SLOTS, *BAD, *REACHED, *SERVED]
