"""One document whose title, file, folder, base, headings, author and asker are hostile, through every channel in turn: to all of them a
name is one line of text. The rows are written past Django, as they may be there from before; what is written now is folded already.
"""

import csv
import io
import json
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.core import mail
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from mcp import Client as McpClient

from agent.models import Message, Session
from authz.permissions import Right
from authz.principal import Principal
from authz.scopes import TokenScope
from authz.tokens.api_tokens import issue_token
from copilot_site.lib.text.one_line import fold_to_one_line
from knowledge.models import Document, Folder
from knowledge.services.grant_files import export_grants, import_grants
from knowledge.services.mails import send_review_reminders
from tests.factories import allow, make_base, make_document, make_folder, make_user
from tests.feishu_chat import message, message_id, serving_feishu
from tests.integration.agent.modelled import THIRTY, modelled, sent
from tests.integration.agent.test_consumer import answer_to, session_of, talked
from tests.integration.channels.hostile import (
    EVIL,
    NAME,
    ORDER,
    active_in,
    active_in_html,
    events_of,
    is_formula,
    lines_broken,
    outside_of_fences,
)
from tests.integration.chat_platforms.company import LEAVE, Company, Office
from tests.integration.mcp.programs import text_of, used
from tests.modelserver import calls, says
from tests.served import serving_site

PATIENT_S = 300
PRICES = "product,price\nGate,3\nDoor,4\n"


class Desk(Company):
    """The company, with a token for everything that reads, and its manual in a folder whose every name is hostile."""

    def __init__(self, url: str, feishu: Any, settings: Any) -> None:
        super().__init__(feishu, settings, Office())
        self.url = url
        scopes = [TokenScope.CHAT, TokenScope.SEARCH]
        self.headers = {"Authorization": f"Bearer {issue_token(Principal.of(self.anna), name='p', scopes=scopes)[1]}"}
        folder = make_folder(self.base, "inner")
        self.prices = make_document(folder, "prices.csv", PRICES, ingested=True)
        allow(self.anna, self.base, Right.DOWNLOAD)
        self.root = make_user("root", is_superuser=True)
        self.browser = Client()
        self.browser.force_login(self.anna)
        past = timezone.localdate() - timedelta(days=1)
        Document.unscoped.filter(pk=self.manual.pk).update(owner=self.anna, review_on=past)
        with connection.cursor() as cursor:
            named: Any = (
                ("UPDATE knowledge_document SET title = %s WHERE id IN (%s, %s)", NAME, self.manual.pk, self.prices.pk),
                ("UPDATE knowledge_document SET filename = %s WHERE id = %s", f"{NAME}.md", self.manual.pk),
                ("UPDATE knowledge_knowledgebase SET name = %s WHERE id = %s", NAME, self.base.pk),
                ("UPDATE knowledge_folder SET name = %s WHERE knowledge_base_id = %s", NAME, self.base.pk),
                ("UPDATE knowledge_chunk SET heading_path = ARRAY[%s] WHERE document_id = %s", NAME, self.manual.pk),
                ("UPDATE auth_user SET first_name = %s WHERE id = %s", NAME, self.anna.pk),
            )
            for statement, *values in named:
                cursor.execute(statement, values)

    def asks_as_program(self, path: str, **body: Any) -> httpx.Response:
        answer = httpx.post(f"{self.url}{path}", json=body, headers=self.headers, timeout=PATIENT_S)
        assert answer.status_code == 200, answer.text
        return answer

    def use_tools(self, calls: Sequence[tuple[str, dict[str, Any]]]) -> list[Any]:
        """Results of the calls, made in one session of a program."""

        async def made(client: McpClient) -> list[Any]:
            return [await client.call_tool(name, arguments) for name, arguments in calls]

        return used(self.url, self.headers["Authorization"].removeprefix("Bearer "), made)

    def reads(self, path: str, **query: str) -> Any:
        answer = httpx.get(f"{self.url}/api/v1/{path}", params=query, headers=self.headers, timeout=PATIENT_S)
        assert answer.status_code == 200, answer.text
        return answer.json()


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch, transactional_db: None, settings: Any) -> Iterator[Desk]:
    settings.MAIL_IS_SET_UP = True
    with serving_feishu() as feishu, serving_site() as url:
        yield Desk(url, feishu, settings)


def require_harmless(markdown: str) -> None:
    assert not lines_broken(markdown)
    assert not active_in(markdown)


def test_a_hostile_name_is_one_line_of_text_in_every_channel(desk: Desk) -> None:
    _as_openai(desk)
    _as_mcp(desk)
    _as_api(desk)
    _on_the_page(desk)
    _in_a_chat(desk)
    _in_mails_and_files(desk)
    _to_the_model(desk)


def _as_openai(desk: Desk) -> None:
    messages = [{"role": "user", "content": LEAVE}]
    whole = desk.asks_as_program("/v1/chat/completions", model="copilot", messages=messages).json()
    said = whole["choices"][0]["message"]
    assert ORDER in said["content"], "the source is named"
    require_harmless(said["content"])
    assert not lines_broken(said)
    streamed = desk.asks_as_program("/v1/chat/completions", model="copilot", messages=messages, stream=True).text
    pieces = [
        choice["delta"].get("content") or "" for chunk in events_of(streamed) for choice in chunk.get("choices", ())
    ]
    require_harmless("".join(pieces))
    assert not lines_broken(events_of(streamed))
    responded = desk.asks_as_program("/v1/responses", model="copilot", input=LEAVE).json()
    require_harmless(responded["output"][0]["content"][0]["text"])
    assert not lines_broken(responded)
    asked_back = desk.asks_as_program(
        "/v1/chat/completions", model="copilot", messages=[{"role": "user", "content": "?"}]
    )
    require_harmless(asked_back.json()["choices"][0]["message"]["content"])


def _as_mcp(desk: Desk) -> None:
    knowledge_id = str(desk.manual.pk)
    uses: list[tuple[str, dict[str, Any]]] = [
        ("ask", {"question": LEAVE}),
        ("list_documents", {}),
        ("list_documents", {"knowledge_base_id": str(desk.base.pk)}),
        ("knowledge_search", {"queries": [LEAVE]}),
        ("grep_chunks", {"patterns": ["annual leave"]}),
        ("list_knowledge_chunks", {"knowledge_id": knowledge_id}),
        ("get_document_info", {"knowledge_ids": [knowledge_id, str(desk.prices.pk)]}),
    ]
    for (name, _arguments), answer in zip(uses, desk.use_tools(uses), strict=True):
        text = text_of(answer)
        assert not answer.is_error, text
        assert ORDER in text, name
        assert not lines_broken([text, answer.structured_content]), name
        if name == "ask":
            require_harmless(text)
        else:
            assert ORDER not in outside_of_fences(text), name


def _as_api(desk: Desk) -> None:
    told = [
        desk.reads("knowledge-bases"),
        desk.reads("folders", knowledge_base=str(desk.base.pk)),
        desk.reads("documents", folder=str(desk.manual.folder_id)),
        desk.reads(f"documents/{desk.manual.pk}"),
        desk.reads(f"documents/{desk.manual.pk}/chunks"),
    ]
    for item in told:
        assert ORDER in json.dumps(item)
        assert not lines_broken(item)
    found = httpx.post(
        f"{desk.url}/api/v1/knowledge-search", json={"query": LEAVE}, headers=desk.headers, timeout=PATIENT_S
    ).json()
    assert ORDER in json.dumps(found)
    assert not lines_broken(found)
    downloaded = httpx.get(
        f"{desk.url}/api/v1/documents/{desk.manual.pk}/download", headers=desk.headers, timeout=PATIENT_S
    )
    assert downloaded.status_code == 200
    assert not lines_broken(downloaded.headers["content-disposition"])


def _on_the_page(desk: Desk) -> None:
    session_id = session_of(desk.anna)
    events = talked(desk.anna, session_id, lambda socket: answer_to(socket, json.dumps({"query": LEAVE})))
    assert ORDER in json.dumps(events)
    assert not lines_broken(events)
    answer = Message.objects.get(session_id=session_id, role="assistant")
    for path in (
        reverse("conversation", args=[session_id]),
        reverse("message", args=[session_id, answer.pk]),
        reverse("document", args=[desk.manual.pk]),
        reverse("folder", args=[desk.manual.folder_id]),
    ):
        page = desk.browser.get(path).content.decode()
        assert not active_in_html(page), path
    exported = desk.browser.get(reverse("conversation-export", args=[session_id, answer.pk, "md"])).content.decode()
    assert ORDER in exported
    require_harmless(exported)


def _in_a_chat(desk: Desk) -> None:
    event = message(LEAVE)
    assert not lines_broken(desk.told(event))
    links = desk.feishu.links(message_id(event))
    assert any(ORDER in title for title in links)
    assert not lines_broken(list(links))
    assert not any(EVIL in url for url in links.values())


def _in_mails_and_files(desk: Desk) -> None:
    with connection.cursor() as cursor:
        cursor.execute("UPDATE auth_user SET email = 'anna@example.com' WHERE id = %s", [desk.anna.pk])
    assert send_review_reminders() == 1
    assert ORDER not in f"{mail.outbox[0].subject}{mail.outbox[0].body}", "a mailbox has no rights"
    root = Client()
    root.force_login(desk.root)
    access: Any = root.get("/api/v1/rights/effective-access")
    grants = io.StringIO()
    export_grants(None, grants)
    for table in (b"".join(access.streaming_content).decode("utf-8-sig"), grants.getvalue()):
        cells = [cell for row in csv.reader(io.StringIO(table)) for cell in row]
        assert any(ORDER in cell for cell in cells)
        assert not lines_broken(cells)
        assert not any(map(is_formula, cells))


def _to_the_model(desk: Desk) -> None:
    ids = [str(desk.manual.pk), str(desk.prices.pk)]
    script = (
        calls(
            ("knowledge_search", {"queries": ["annual leave days"]}),
            ("list_knowledge_chunks", {"knowledge_id": ids[0]}),
            ("get_document_info", {"knowledge_ids": ids}),
            ("data_schema", {"knowledge_ids": ids[1:]}),
            ("data_analysis", {"knowledge_ids": ids[1:], "sql": "SELECT sum(price) FROM t1"}),
        ),
        says(THIRTY),
    )
    with modelled(*script) as server:
        desk.asks_as_program("/v1/chat/completions", model="copilot", messages=[{"role": "user", "content": LEAVE}])
    prompts = [sent(request) for request in server.requests]
    assert any(ORDER in prompt for prompt in prompts)
    for prompt in prompts:
        assert ORDER not in outside_of_fences(prompt)
        assert not lines_broken(prompt)


@pytest.mark.django_db
def test_a_name_is_folded_where_it_is_written_and_rights_are_read_back_from_their_file(tmp_path: Any) -> None:
    base = make_base("=1+1 Handbook")
    document = make_document(base, "a.md", title=NAME)
    Folder.unscoped.filter(pk=document.folder_id).update(name="=1+1 Handbook\r\n")
    person = make_user()
    person.first_name = NAME
    person.save()
    session = Session.objects.create(user=person, title=NAME)
    rows = (
        ("knowledge_document", "title", document.pk, fold_to_one_line(NAME)),
        ("knowledge_folder", "name", document.folder_id, "=1+1 Handbook"),
        ("agent_session", "title", session.pk, fold_to_one_line(NAME)),
        ("auth_user", "first_name", session.user_id, fold_to_one_line(NAME)),
    )
    with connection.cursor() as cursor:
        for table, column, pk, expected in rows:
            cursor.execute(f"SELECT {column} FROM {table} WHERE id = %s", [pk])  # names of this test
            assert cursor.fetchone()[0] == expected
    allow(session.user, base)
    written = io.StringIO()
    count = export_grants(None, written)
    file = tmp_path / "grants.csv"
    file.write_text(written.getvalue(), encoding="utf-8")
    assert not any(is_formula(cell) for row in csv.reader(io.StringIO(written.getvalue())) for cell in row)
    assert import_grants(None, file) == count
