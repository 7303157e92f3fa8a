"""No text of the project names a package registry, an index address or a path of somebody's machine; the docs keep to
the design's words."""

import re

import pytest

from tests.house.source import files, none, text_of

# Written in parts, so that this file does not name what it looks for.
REGISTRIES = [
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("pypi", "python", "org"),
        ("pythonhosted", "org"),
        ("registry", "npmjs", "org"),
        ("registry", "yarnpkg", "com"),
        ("proxy", "golang", "org"),
        ("sum", "golang", "org"),
        ("static", "crates", "io"),
        ("index", "crates", "io"),
        ("repo1", "maven", "org"),
        ("repo", "maven", "apache", "org"),
        ("deb", "debian", "org"),
        ("archive", "ubuntu", "com"),
    )
]
REGISTRY = re.compile(r"(?<![\w-])(?:" + "|".join(map(re.escape, REGISTRIES)) + r")(?![\w-])", re.IGNORECASE)
INDEX = re.compile(
    r"--(?:extra-)?index-url|--find-links|\bresolved\"?[ :=]+\"?https?:|\bregistry\s*=\s*\"?https?:|://[^/\s]+/simple/"
)
MACHINE = re.compile(
    r"(?<![\w.}$/*~-])/(?:home|root|work|Users|mnt|private/(?:tmp|var))/[\w.]|\.\./shared/|\b[A-Z]:\\Users\\"
)

# Folders of real inputs: their text is their authors', though never a registry's address.
DATA_FOLDERS = ("tests/data/", "tether/data/", "tether/demo/data/", "benchmarks/data/")
# The house test of words itself, and files whose text is not ours.
EXEMPT = {"tests/house/test_words.py", "LICENSE"}

# Another name for what the design has a word for -> that word. Looked for in prose, not in code.
SYNONYMS = {
    r"taint(?:s|ed|ing)?": "reached",
    r"retract(?:s|ed|ing|ion|ions)?": "withdrawn, invalidated or forgotten",
    r"un-?withdraw\w*": "restored",
    r"soft[- ]delet\w+": "tombstoned",
    r"dead[- ]letter queues?|DLQs?": "dead letters",
    r"multi-?tenan\w+": "namespaces",
    r"memory (?:item|record|entry|entries)s?": "memory or assertion",
}
SYNONYM = re.compile(r"\b(?:" + "|".join(SYNONYMS) + r")\b", re.IGNORECASE)
CODE = re.compile(r"^(```|~~~).*?^\1|`[^`\n]+`", re.MULTILINE | re.DOTALL)


def line_of(text: str, found: re.Match[str]) -> int:
    return text.count("\n", 0, found.start()) + 1


def address_faults(name: str, text: str) -> list[str]:
    patterns = [(REGISTRY, "names a package registry"), (INDEX, "holds an index address")]
    if not name.startswith(DATA_FOLDERS):
        patterns.append((MACHINE, "holds a path of one machine"))
    return [
        f"{name}:{line_of(text, found)} {fault}: {found[0]}"
        for pattern, fault in patterns
        for found in pattern.finditer(text)
    ]


def synonym_faults(name: str, text: str) -> list[str]:
    prose = CODE.sub(lambda code: "\n" * code[0].count("\n"), text)
    return [
        f"{name}:{line_of(prose, found)} says '{found[0]}'; the design's word is {word_for(found[0])}"
        for found in SYNONYM.finditer(prose)
    ]


def word_for(synonym: str) -> str:
    return next(word for pattern, word in SYNONYMS.items() if re.fullmatch(pattern, synonym, re.IGNORECASE))


def is_prose(name: str) -> bool:
    return name.endswith(".md") and (name.startswith("docs/") or "/" not in name)


def test_no_file_names_a_registry_an_index_or_a_machine() -> None:
    texts = {name: text for name in files() if name not in EXEMPT and (text := text_of(name)) is not None}
    none([fault for name, text in texts.items() for fault in address_faults(name, text)])


def test_the_docs_keep_to_the_designs_words() -> None:
    texts = {name: text for name in files() if is_prose(name) and (text := text_of(name)) is not None}
    none([fault for name, text in texts.items() for fault in synonym_faults(name, text)])


@pytest.mark.parametrize(
    "text",
    [
        f"see https://{REGISTRIES[0]}/project/x",
        f"files.{REGISTRIES[2]}",
        "pip install --index-url x",
        'resolved "https://example.com/a.tgz"',
        "cd /home/ana/tether",
        "open('/root/x')",
        "data in ../shared/data",
    ],
)
def test_a_planted_address_or_path_is_found(text: str) -> None:
    assert address_faults("docs/x.md", "first line\n" + text)[0].startswith("docs/x.md:2 ")


@pytest.mark.parametrize("text", ["/var/lib/tether", "go.etcd.io/home/x", "https://example.com/work/x", "a/root/b"])
def test_other_paths_are_no_fault(text: str) -> None:
    assert not address_faults("docs/x.md", text)


def test_real_inputs_may_hold_paths_but_no_registry() -> None:
    assert not address_faults("tests/data/x.json", "/home/runner/x")
    assert address_faults("tests/data/x.json", REGISTRIES[0])


def test_a_synonym_is_found_in_prose_and_not_in_code() -> None:
    assert synonym_faults("docs/x.md", "one\n\nthe memory is tainted") == [
        "docs/x.md:3 says 'tainted'; the design's word is reached"
    ]
    assert not synonym_faults("docs/x.md", "`retract` of go.mod\n```\nretract v1.0.0\n```\n")
