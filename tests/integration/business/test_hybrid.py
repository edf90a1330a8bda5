"""Documents first, data second: one answer with both kinds of evidence, under the rights of whoever asks."""

import re
from collections.abc import Callable

import pytest

from agent.events import Complete, References, StopReason, Thinking
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.grants import grant_rights
from business.models import DataSource
from demo.company import DOCUMENTS, load_company
from demo.seed import find_company_group
from tests.factories import make_base, make_document
from tests.integration.agent.conversations import asked, stored, words
from tests.integration.agent.modelled import is_judged, judges, modelled, of, sent
from tests.modelserver import Request, Step, calls, says
from tests.sharing import Share

ZH = "根据部署规范，目前支持哪些环境？这些环境中有多少正在使用？"
EN = "Which environments do the deployment rules support, and how many of these environments are in use?"


@pytest.fixture(scope="module")
def shared_company(share: Share, shared_demo: Callable[[], DataSource]) -> Callable[[], None]:
    return share(make_company)


@pytest.fixture
def company(shared_company: Callable[[], None], db: None) -> None:
    """The demo's people, its business data, and its deployment rules, which Engineering reads."""


def make_company() -> None:
    base = make_base("Deployment")
    for name in ("部署规范.md", "deployment-rules.md"):
        make_document(base, name, (DOCUMENTS / "engineering" / "deployment" / name).read_text(), ingested=True)
    grant_rights(None, [Right.VIEW], base, to=find_company_group(load_company(), "engineering"))


def test_the_environments_that_the_rules_name_are_counted_in_the_table(company: None) -> None:
    for question, counted in ((ZH, "共 3 个环境"), (EN, "3 environments")):
        events = asked(Principal.named("chen"), question)
        row = stored(events)
        assert "prod-cn" in words(events)
        assert counted in words(events)
        references = [event for event in events if isinstance(event, References)][-1]
        assert [ref.title for ref in references.knowledge_references][:1]
        (query,) = references.query_references
        assert query.number == len(references.knowledge_references) + 1
        assert f"[1][{query.number}]" in words(events)  # the count stands on the rules, too
        plan = row.state["plan"]
        assert plan["route"] == "HYBRID"
        assert [step["tool"] for step in plan["subtasks"]] == ["knowledge_search", "database_query"]
        (told,) = [event.content for event in events if isinstance(event, Thinking)]
        assert plan["subtasks"][1]["question"] in told
        nodes = list(dict.fromkeys(step["node"] for step in row.state["trace_steps"]))
        assert nodes[2:6] == ["Route", "DocRAGTool", "SQLTool", "ValidateEvidence"]
        assert "'demo'" in row.state["tools"]["sql"]["generated_sql"]
        kinds = {item["type"] for item in row.state["evidence_items"]}
        assert kinds == {"doc_chunk", "sql_result"}
        assert {item["authz"]["perm_snapshot_id"] for item in row.state["evidence_items"]} == {
            row.state["authz"]["perm_snapshot_id"]
        }


COUNTED = {
    "按照部署文档的说明，目前支持哪些环境？它们有几个已停用？": "共 1 个环境",
    "根据部署规范，目前支持哪些环境？列出其中正在使用的环境": "prod-cn；prod-eu；staging",
    "According to the deployment documentation, which environments are supported? How many of these are retired?": (
        "1 environment ("
    ),
}


def test_words_for_the_place_of_the_answer_are_no_part_of_it_and_a_pronoun_stands_for_what_was_found(
    company: None,
) -> None:
    """In a base whose other documents say 根据 and “according to”, too: then these words have a weight."""
    base = make_base("Minutes")
    make_document(base, "纪要.md", "根据会议讨论，按照计划推进，文档由小组保存。", ingested=True)
    make_document(base, "minutes.md", "According to the documentation, the supported plan is kept.", ingested=True)
    grant_rights(None, [Right.VIEW], base, to=find_company_group(load_company(), "engineering"))
    for question, counted in COUNTED.items():
        events = asked(Principal.named("chen"), question)
        assert stored(events).state["plan"]["route"] == "HYBRID", question
        assert "demo" in words(events)
        assert counted in words(events)


def test_who_may_not_read_the_rules_gets_no_count_of_what_they_name(company: None) -> None:
    events = asked(Principal.named("emma"), EN)
    row = stored(events)
    assert row.stop_reason == StopReason.NO_EVIDENCE
    assert "sql" not in row.state["tools"]


def test_who_may_not_ask_the_data_gets_the_document_s_part(company: None) -> None:
    """The same as where there is no data source at all: the whole question goes to the documents."""
    may_ask_nothing = Principal.named("sofia")
    row = stored(asked(may_ask_nothing, EN))
    assert [step["node"] for step in row.state["trace_steps"]][2:4] == ["Route", "DocRAGTool"]
    assert row.state["plan"].get("subtasks", []) == []


def test_what_the_data_cannot_answer_is_said_beside_what_the_documents_do(company: None) -> None:
    events = asked(Principal.named("chen"), "根据部署规范，目前支持哪些环境？这些环境中有多少令人满意？")
    row = stored(events)
    assert "prod-cn" in words(events)
    (last,) = of(events, Complete)
    assert "The part about business data could not be answered from data you can query." in last.data["notices"]
    assert "sql" not in row.state["tools"]


def test_both_parts_stand_under_their_own_heading(company: None) -> None:
    events = asked(
        Principal.named("chen"),
        "According to the deployment rules, which colour do rollback alerts have, and how many environments are in use?",
    )
    row = stored(events)
    documents, _, data = words(events).partition("\n\n")
    assert documents.splitlines()[:2] == ["From your documents", "Best match (not verified):"]
    heading, counted, whose = data.splitlines()
    assert (heading, counted) == ("From the business data", "5 environments (in use)")
    references = [event for event in events if isinstance(event, References)][-1]
    passages = len(references.knowledge_references)
    assert [ref.number for ref in references.query_references] == [passages + 1]
    assert whose == f"in the rows of 工程部 Engineering[{passages + 1}]"
    assert (row.stop_reason, row.state["plan"]["route"]) == (StopReason.OK, "HYBRID")
    assert row.state["output"]["kind"] == "passages"


def test_where_nothing_comes_near_one_part_is_said_to_be_open(company: None) -> None:
    said = words(
        asked(Principal.named("emma"), "What did the poet say about the moon, and how many environments are in use?")
    )
    assert said.splitlines()[:2] == ["From your documents", "I found nothing about this in the documents you can read."]
    assert "[2]" not in said


def test_a_model_answers_both_parts_in_two_calls(company: None) -> None:
    written = "目前支持部署的环境有 staging、prod-cn、prod-eu 和 demo [{documents}]。其中 3 个正在使用 [{data}]。"
    names = "'staging', 'prod-cn', 'prod-eu', 'demo'"
    sql = f"SELECT count(*) AS n FROM environment WHERE status = 'in use' AND name IN ({names})"

    def model(request: Request) -> Step:
        if is_judged(request):
            return judges("supported", quote="staging")
        if not any(message["role"] == "tool" for message in request["messages"]):
            return calls(("database_query", {"source": "demo", "sql": sql}))
        found = dict(re.findall(r'<evidence number="(\d+)"[^>]*>\n(.*?)\n</evidence>', sent(request), re.DOTALL))
        documents = next(number for number, text in found.items() if "prod-eu" in text)
        return says(written.format(documents=documents, data=max(map(int, found))))

    with modelled(chooses=model) as server:
        events = asked(Principal.named("chen"), ZH)
    assert sum("tools" in request for request in server.requests) == 2
    row = stored(events)
    assert {item["type"] for item in row.state["evidence_items"]} == {"doc_chunk", "sql_result"}
    assert row.state["plan"]["route"] == "HYBRID"
    assert "prod-eu" in words(events)


def test_what_the_data_read_as_a_whole_is_asked_as_a_whole(company: None) -> None:
    events = asked(Principal.named("emma"), "港口客户中，其中有多少在中国？")
    assert stored(events).state["plan"]["route"] == "SQL"
    assert words(events).startswith("共 12 ")


def test_of_two_numbers_from_the_data_none_is_asked_of_documents(company: None) -> None:
    row = stored(asked(Principal.named("emma"), "How many orders did we get this year, how many last year?"))
    assert row.state["plan"]["route"] != "HYBRID"
    assert "sql_result" not in {item["type"] for item in row.state["evidence_items"]}
