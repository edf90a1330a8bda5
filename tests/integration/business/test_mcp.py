"""Programs that speak MCP query business data with a token for it, each person the rows of their units."""

from typing import Any

from authz.principal import Principal
from authz.scopes import TokenScope
from authz.tokens.api_tokens import issue_token
from business.models import DataSource
from tests.tokens import client_with

ACCEPT = {"Accept": "application/json, text/event-stream"}


def exchanged(username: str, method: str, params: dict[str, Any], *scopes: TokenScope) -> Any:
    secret = issue_token(Principal.named(username), name="program", scopes=scopes)[1]
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return client_with(secret, **ACCEPT).post("/mcp", message).json()["result"]


def test_each_sees_their_own_units_rows_with_the_scope_for_it(demo: DataSource) -> None:
    call = {"name": "database_query", "arguments": {"question": "how many orders are there"}}
    found = {name: exchanged(name, "tools/call", call, TokenScope.SQL) for name in ("emma", "chen")}
    assert {name: item["structuredContent"]["rows"] for name, item in found.items()} == {"emma": [[600]], "chen": [[0]]}
    refused = exchanged("emma", "tools/call", call, TokenScope.SEARCH, TokenScope.CHAT)
    assert refused["isError"]
    assert "600" not in str(refused)
    named = {
        scope: [tool["name"] for tool in exchanged("emma", "tools/list", {}, scope)["tools"]]
        for scope in (TokenScope.SQL, TokenScope.SEARCH)
    }
    assert named[TokenScope.SQL] == ["database_query"]
    assert "database_query" not in named[TokenScope.SEARCH]
