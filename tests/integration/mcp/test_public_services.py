"""Two services that others wrote, as their packages start them: commands from the server's file."""

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.test import override_settings

from agent.mcp_client.services import fetch_service_tools, save_service
from agent.mcp_client.tool import build_outside_tools
from agent.models import McpService
from agent.models.mcp_services import Transport
from agent.tools.base import ToolContext, build_tool_specification
from agent.tools.calling import CallOutcome, call_tool
from authz.principal import Principal
from knowledge.retrieval.search import Scope
from tests.factories import make_user
from tests.integration.mcp.outside import administrator

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.needs("git")]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A git repository with one commit."""
    folder = tmp_path / "handbook"
    folder.mkdir()
    (folder / "leave.md").write_text("Employees have 30 days of annual leave.")
    who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]
    for command in (
        ["init", "-q"],
        ["add", "."],
        [*who, "commit", "-q", "-m", "Say how many days of leave there are."],
    ):
        subprocess.run(["git", "-C", str(folder), *command], check=True)
    return folder


@pytest.fixture
def commands(tmp_path: Path, repository: Path) -> Iterator[None]:
    file = tmp_path / "commands.json"
    named = {
        "clock": {"command": sys.executable, "args": ["-m", "mcp_server_time", "--local-timezone", "UTC"]},
        "git": {"command": sys.executable, "args": ["-m", "mcp_server_git", "--repository", str(repository)]},
    }
    file.write_text(json.dumps({"mcpServers": named}))
    with override_settings(MCP_COMMANDS=str(file)):
        yield


def allowed(name: str, *tools: str) -> list[str]:
    """All tools of a service; these may be used, without asking."""
    row = McpService(name=name, transport=Transport.LOCAL)
    save_service(None, row)
    fetch_service_tools(administrator(), row)
    row.refresh_from_db()
    row.allowed_tools = row.unasked_tools = list(tools)
    save_service(None, row)
    return [tool["name"] for tool in row.tools]


def called(name: str, arguments: dict[str, Any]) -> CallOutcome:
    tools = build_outside_tools()
    context = replace(ToolContext(Principal.of(make_user()), Scope(), "en"))
    names = [tool.name for tool in tools]
    return async_to_sync(call_tool)(name, json.dumps(arguments), allowed=names, ctx=context, outside=tools)


def test_the_time_service_converts_a_time(commands: None) -> None:
    assert allowed("clock", "convert_time") == ["get_current_time", "convert_time"]
    arguments = {"source_timezone": "Asia/Shanghai", "time": "09:00", "target_timezone": "UTC"}
    brought = called("mcp_clock_convert_time", arguments)
    assert brought.result.success, brought.result.error
    assert "T01:00:00" in brought.result.output
    (tool,) = build_outside_tools()
    assert set(build_tool_specification(tool)["function"]["parameters"]["properties"]) == set(arguments)


def test_the_git_service_reads_a_log_and_is_not_let_to_write(commands: None, repository: Path) -> None:
    assert {"git_log", "git_commit"} <= set(allowed("git", "git_log"))
    brought = called("mcp_git_git_log", {"repo_path": str(repository)})
    assert "Say how many days of leave there are." in brought.result.output
    assert called("mcp_git_git_commit", {"repo_path": str(repository), "message": "x"}).is_error
