"""What is done for an answer is told in words: never by the name that a tool has for a model."""

from pathlib import Path

from agent.conversations.presentation.steps import TOOLS
from agent.tools.base import list_default_tools, list_tools, load_tools

LIVE = Path("static/js/chat/progress.js")


def test_every_tool_has_words_while_it_works_and_afterwards() -> None:
    load_tools()
    names = {*list_default_tools(), *(tool.name for tool in list_tools())}
    assert names - set(TOOLS) == set()
    live = LIVE.read_text(encoding="utf-8")
    assert {name for name in names if f"\n  {name}: " not in live} == set()
