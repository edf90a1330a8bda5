"""Results of a data source as evidence: cited by number, and shown only as long as the source may be asked."""

import re
from collections.abc import Iterator

import pytest
from pydantic import Field

from agent.run_state.run import Finding
from agent.run_state.state import EvidenceItem, EvidenceSource, SqlSummary, State
from agent.tools.base import Tool, ToolArgs, ToolContext, ToolOutput, ToolText, tools
from authz.principal import Principal
from business.results.visibility import query_sources
from tests.factories import make_user
from tests.integration.agent.conversations import asked, stored

pytestmark = pytest.mark.django_db

OPEN: set[str] = set()  # users who may ask the source
EVIDENCE = "sql:q_1:rowset:3c2b1a00"


class OrdersArgs(ToolArgs):
    question: str = Field(description="What to count.")


class Orders(Tool):
    """Answer questions about orders. A data source of the tests' own, as an app of its own would register one."""

    name = "database_query"
    label = ToolText("Query", "查询")
    description = ToolText("Asks business data.", "查询业务数据")
    Args = OrdersArgs
    scope = "sql"
    node = State.QUERY

    def why_not(self, principal: Principal) -> ToolText | None:
        return None if principal.username in OPEN else ToolText("no source.", "没有数据源。")

    async def run(self, ctx: ToolContext, args: OrdersArgs) -> ToolOutput:
        source = EvidenceSource(title="Orders by month", db="shop", table="orders", query_id="q_1")
        item = EvidenceItem(
            evidence_id=EVIDENCE, type="sql_result", text="month | orders\n2026-10 | 128", score=1.0, source=source, by="sql",
            hash="3c2b1a00",
        )  # fmt: skip
        summary = SqlSummary(generated_sql="SELECT …", result_preview="128", returned_evidence_ids=[EVIDENCE])
        return ToolOutput(item.text, {"display_type": "table"}, findings=[Finding(item)], sql=summary)


@pytest.fixture(autouse=True)
def shop(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(tools._items, "database_query", Orders())
    monkeypatch.setitem(
        query_sources._items, "tests", lambda principal, queried: queried if principal.username in OPEN else set()
    )
    yield
    OPEN.clear()


QUESTION = "How many orders were there in October 2026?"


def test_a_source_that_is_closed_while_it_is_asked_answers_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    person = make_user()
    OPEN.add(person.username)
    ask_orders = Orders.run

    async def closed_behind_it(tool: Orders, ctx: ToolContext, args: OrdersArgs) -> ToolOutput:
        result = await ask_orders(tool, ctx, args)
        OPEN.clear()
        return result

    monkeypatch.setattr(Orders, "run", closed_behind_it)
    events = asked(person, QUESTION)
    told = "".join(event.model_dump_json() for event in events)
    assert not re.search("(?<![0-9a-f-])128(?![0-9a-f-])", told), "not within an id"
    assert "128" not in stored(events).content
