"""JSON of requests and of remote programs is read by `copilot_site.lib.text.json_input` alone: it bounds levels, numbers and characters."""

import ast
from collections.abc import Iterator
from functools import cache

from tests.test_architecture import ROOT, sources

READER = "copilot_site/lib/text/json_input.py"
# files that read JSON which this product wrote, ships or is given by its operator
OWN = {
    "evals": "sets of questions, and what benchmarks and their children tell each other",
    "agent/chat_platforms/answering.py": "our event log",
    "agent/chat_platforms/setting_up.py": "secrets that were sealed here",
    "agent/mcp_client/address.py": "the operator's file of commands",
    "agent/mcp_client/sign_in.py": "a token that was sealed here",
    "agent/mcp_server/protocol.py": "what was written one call before",
    "agent/text_answer.py": "our event log",
    "agent/skills/shipped": "programs of skills, which read what they are given",
    "audit/chain/checkpoints.py": "checkpoints that were written here",
    "audit/record.py": "what was written one call before",
    "audit/verify_export.py": "a program of its own, which imports nothing of ours",
    "business/spreadsheets": "between a process and its child",
    "copilot_site/backup.py": "files of backups that were written here",
    "copilot_site/embedded": "files of services that were written here",
    "copilot_site/home.py": "a file that was written here",
    "copilot_site/management/commands/wait_ready.py": "what our web server answers",
    "copilot_site/lib/slow_statements.py": "what was written here",
    "copilot_site/lib/confinement/plan.py": "between a process and its child",
    "knowledge/embedding/model_files.py": "a manifest that was written here",
    "knowledge/embedding/tokenizer.py": "a vocabulary whose digest is known",
    "knowledge/services/fields.py": "columns of the database",
    "knowledge/graph/traversal.py": "columns of the database",
    "knowledge/ingestion": "files that were written here",
    "knowledge/retrieval/candidates.py": "columns of the database",
    "knowledge/parsers": "between a process and its child",
    "knowledge/sources/microsoft_graph.py": "a file that was written here",
    "scripts": "of development",
}
BY_NAME = {
    "json": {"loads", "load", "JSONDecoder"},
    "pydantic_core": {"from_json"},
    "rest_framework.parsers": {"JSONParser"},
}
# sessions of `outgoing_http`, whose answers use the one reader
SESSIONS = {
    "authz/sign_in/issuer_check.py",
    "authz/oidc.py",
    "copilot_site/lib/outgoing/http.py",
    "knowledge/embedding/trial.py",
}


def readers_in(source: str) -> Iterator[str]:
    """Whatever reads JSON in a file, but by the one reader."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            yield from (
                f"{node.module}.{item.name}" for item in node.names if item.name in BY_NAME.get(node.module or "", ())
            )
        elif isinstance(node, ast.Attribute):
            if isinstance(node.value, ast.Name) and node.attr in BY_NAME.get(node.value.id, ()):
                yield f"{node.value.id}.{node.attr}"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "json":
            yield ".json()"


@cache
def readers() -> dict[str, frozenset[str]]:
    """What reads JSON in each file that has the word, by its path below ROOT."""
    texts = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in sources()}
    return {name: frozenset(readers_in(text)) for name, text in texts.items() if "json" in text.lower()}


def test_json_from_outside_is_read_by_one_reader() -> None:
    found = {}
    for name, used in readers().items():
        if name in {READER, "authz/rest/parsers.py"} or any(name.startswith(own) for own in OWN):
            continue
        if others := used - ({".json()"} if name in SESSIONS else set()):
            found[name] = others
    assert found == {}


def test_every_way_to_read_it_is_seen() -> None:
    for source in (
        "import json\njson.loads(request.body)",
        "from json import loads",
        "from rest_framework.parsers import JSONParser",
        "from pydantic_core import from_json",
        "import requests\nrequests.get(url).json()",
        "import json\nread = json.load\nread(file)",
    ):
        assert list(readers_in(source))


def test_the_parser_of_the_api_is_the_bounded_one() -> None:
    source = (ROOT / "authz" / "rest" / "parsers.py").read_text(encoding="utf-8")
    assert set(readers_in(source)) == {"rest_framework.parsers.JSONParser"}
    assert "super().parse" not in source


def test_nothing_is_allowed_that_needs_it_no_more() -> None:
    used = [name for name, found in readers().items() if found]
    assert {own for own in OWN if not any(name.startswith(own) for name in used)} == set()
