"""The agent starts, and shows its pages, where each of its removable parts was removed."""

import json
import os
import subprocess
import sys
from pathlib import Path

from django.urls import reverse

from agent.parts import PARTS
from agent.tools.base import tools

ROOT = Path(__file__).resolve().parents[3]
PAGES = ("chat", "skills", "mcp", "openai-chat", "chat-bot-try", "web-search-try", "mcp-callback")
# hides the parts from Python as if their folders were not there, then starts the site
WITHOUT_PARTS = """
import json, os, sys
from importlib.machinery import PathFinder

hidden, found = tuple(f"agent.{part}" for part in sys.argv[1:]), PathFinder.find_spec
PathFinder.find_spec = lambda name, *rest: None if name.startswith(hidden) else found(name, *rest)
os.environ["DJANGO_SETTINGS_MODULE"] = "copilot_site.settings"
import django
django.setup()
from django.core.management import call_command
from django.urls import NoReverseMatch, reverse
import agent.tasks, copilot_site.asgi
from agent.tools.base import tools

def is_there(name):
    try:
        return bool(reverse(name))
    except NoReverseMatch:
        return False

call_command("check", "--fail-level=ERROR")
print(json.dumps([sorted(tools.names()), [name for name in NAMES if is_there(name)]]))
"""


def started(*removed: str) -> tuple[list[str], list[str]]:
    """Names of the tools, and of those pages that exist, in a process without these parts."""
    done = subprocess.run(
        [sys.executable, "-c", f"NAMES = {PAGES}\n{WITHOUT_PARTS}", *removed],
        capture_output=True, text=True, check=False, cwd=ROOT, env=dict(os.environ),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    names, pages = json.loads(done.stdout.splitlines()[-1])
    return names, pages


def test_the_agent_starts_without_any_of_its_parts() -> None:
    names, pages = started(*PARTS)
    assert pages == ["chat"]
    assert not {"web_search", "web_fetch", "read_skill", "execute_skill_script"} & set(names)
    assert {"knowledge_search", "database_query"} <= set(names)


def test_the_agent_has_all_its_parts_where_none_was_removed() -> None:
    assert [name for name in PAGES if reverse(name)] == list(PAGES)
    assert {"web_search", "web_fetch", "read_skill", "execute_skill_script"} <= set(tools.names())
