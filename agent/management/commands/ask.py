"""`manage.py ask "…" --as USER`: one question from the command line, with sources."""

import json
from typing import Any

from asgiref.sync import async_to_sync
from django.core.management.base import BaseCommand, CommandParser
from django.utils.translation import gettext as _

from agent.conversations.presentation.message import ShownMessage
from agent.conversations.sessions import create_session, get_message
from agent.profiles.asked_in import require_tables
from agent.profiles.settings import Options
from agent.runs.start import ask_question, check_question
from authz.principal import Principal
from business.presentation.report import format_markdown_table
from business.sources.data_scope import TableName
from copilot_site.lib.commands import ignore_broken_pipe, report_command_errors
from copilot_site.lib.errors import InvalidInput
from knowledge.retrieval.search import Scope
from knowledge.selectors import find_base_by_name
from knowledge.services.fields import parse_conditions
from knowledge.text.language import detect_language


class Command(BaseCommand):
    help = "Ask a question as a person; the answer is made only from what this person may read."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("question")
        parser.add_argument("--as", dest="username", required=True, help="who asks")
        parser.add_argument("--kb", default="", help="only this knowledge base")
        parser.add_argument(
            "--field", action="append", default=[], metavar="NAME=VALUE", help="only documents that say this in a field"
        )
        parser.add_argument(
            "--table", action="append", default=[], metavar="SOURCE.TABLE", help="only this table of a data source"
        )
        parser.add_argument(
            "--language", choices=("en", "zh-hans"), help="of our own words; without it that of the question"
        )
        parser.add_argument("--json", action="store_true", help="print the events, one JSON object a line")

    def handle(
        self,
        *,
        question: str,
        username: str,
        kb: str,
        field: list[str],
        table: list[str],
        language: str | None,
        json: bool,
        **options: Any,
    ) -> None:
        with report_command_errors():
            principal = Principal.named(username)
            check_question(question)  # before a conversation is begun for it
            bases = (find_base_by_name(principal, kb).pk,) if kb else ()
            scope = Scope(
                knowledge_base_ids=bases, metadata=parse_conditions(principal, map(_parse_condition, field), bases)
            )
            tables = tuple(map(_parse_table_name, table))
            require_tables(principal, tables)  # as the question, before a conversation is begun for it
            language = language or ("zh-hans" if detect_language(question) == "zh" else "en")
            session = create_session(principal)
            chosen = Options(tables=tables)
            events = async_to_sync(_collect_events)(
                ask_question(
                    principal, session_id=session.pk, question=question, scope=scope, language=language, options=chosen
                )
            )
        with ignore_broken_pipe(self.stdout):
            if json:
                self._print_events(events)
            else:
                self._print_answer(get_message(principal, session, events[-1].assistant_message_id))

    def _print_events(self, events: list[Any]) -> None:
        for event in events:
            self.stdout.write(json.dumps(event.model_dump(mode="json"), ensure_ascii=False))

    def _print_answer(self, message: ShownMessage) -> None:
        self.stdout.write(message.content)
        for reading in message.readings:
            self.stdout.write(f"  - {reading}")
        for citation in message.citations:
            place = " > ".join((citation.passage.title, *citation.passage.heading_path))
            page = f", p. {citation.page}" if citation.page else ""
            self.stdout.write(f"  [{citation.number}] {place}{page}")
        for query in message.queries:
            self.stdout.write(f"  [{query.number}] {query.source}: {query.title}")
            if query.result and len(query.result.table.columns) * len(query.result.table.rows) > 1:
                table = query.result.table
                self.stdout.write(format_markdown_table(table.columns, table.rows, table.words))
        for item in message.verified:
            self.stdout.write(f"  [{item.number}] ({_('verified')}) {item.by}, {item.verified_on}: {item.question}")
        for outside in message.pages:
            self.stdout.write(f"  [{outside.number}] ({_('from outside')}) {outside.title}: {outside.url}")
        if message.notice:
            self.stdout.write(message.notice)


def _parse_condition(text: str) -> dict[str, str]:
    """Parse a metadata condition, NAME=VALUE. Raises InvalidInput."""
    name, _equals, value = text.partition("=")
    if not name or not value:
        raise InvalidInput(_("Write a field as NAME=VALUE, not “%(text)s”.") % {"text": text})
    return {"field": name, "equals": value}


def _parse_table_name(text: str) -> TableName:
    """Parse a table name, SOURCE.TABLE. Raises InvalidInput."""
    source, _dot, table = text.partition(".")
    if not source or not table:
        raise InvalidInput(_("Write a table as SOURCE.TABLE, not “%(text)s”.") % {"text": text})
    return TableName(source, table)


async def _collect_events(events: Any) -> list[Any]:
    return [event async for event in events]
