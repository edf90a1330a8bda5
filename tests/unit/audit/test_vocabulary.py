"""Every word of the audit log is recorded somewhere: a word that nothing writes promises what is not kept."""

import ast
from collections.abc import Iterable
from pathlib import Path

from audit.actions import Action, list_actions_by_group

ROOT = Path(__file__).resolve().parents[3]
RECORDING = ("agent", "audit", "authz", "business", "copilot_site", "knowledge")
# `record_action`, also as recorder of a run or `note` of a statement; a failed run of a source, the trial of an address
RECORDERS = {"record_action", "record", "record_run_failure", "note", "tried"}


def recorded(trees: Iterable[ast.Module]) -> set[str]:
    """Names of actions that stand in modules which record something."""
    found: set[str] = set()
    for tree in trees:
        nodes = list(ast.walk(tree))
        called = {last_name(node.func) for node in nodes if isinstance(node, ast.Call)}
        if called & RECORDERS:
            found |= {
                node.attr
                for node in nodes
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "Action"
            }
    return found & set(Action.__members__)


def last_name(function: ast.expr) -> str:
    return str(getattr(function, "attr", getattr(function, "id", "")))


def sources() -> Iterable[ast.Module]:
    for app in RECORDING:
        for path in sorted((ROOT / app).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            if "Action." in text and path.name != "actions.py" and "migrations" not in path.parts:
                yield ast.parse(text)


OF_BEFORE = {"SQL_CONFIRMED", "SQL_UNCONFIRMED"}  # entries that the log keeps, of what is recorded by other words now


def test_every_word_is_recorded_somewhere() -> None:
    assert recorded(sources()) | OF_BEFORE == set(Action.__members__)


def test_a_word_that_is_only_mentioned_is_an_orphan() -> None:
    told = ast.parse("record(by, Action.SEARCHED)")
    mentioned = ast.parse("rows.filter(action=Action.QUESTION_ASKED)")
    assert recorded([told, mentioned]) == {"SEARCHED"}


def test_each_action_is_in_one_group() -> None:
    found = [action for _group, choices in list_actions_by_group() for action, _text in choices]
    assert sorted(found) == sorted(Action.values)
