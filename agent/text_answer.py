"""A run's answer as Markdown text with footnotes, for OpenAI's API, MCP and chat platforms."""

import json
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import structlog
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import override
from redis.exceptions import RedisError

from agent.revocation import format_unreadable_notice
from agent.run_state.cited_answer import parse_code_indent
from agent.run_state.run import Run
from agent.runs.follow import follow_run
from agent.runs.leases import request_stop
from agent.runs.run import launch_run
from authz.principal import Principal
from business.presentation.report import format_first_rows
from business.results.shown_query import QueryShown
from copilot_site.lib.errors import CopilotError
from copilot_site.lib.text.markdown_text import escape_markdown_address, escape_markdown_label, make_markdown_inert
from copilot_site.lib.text.one_line import fold_to_one_line

log = structlog.get_logger(__name__)

_MARK = re.compile(r"\[(\d+)\]")


@dataclass
class TextAnswer:
    """An answer that grows as Markdown. site: the address of this site, without a trailing slash.

    choices: complete questions that may have been meant. stop_reason: how the run ended; notices: deviations from the
    expected. annotations: each mark in the text with its source, once the answer is closed.
    """

    run: Run
    site: str
    text: str = ""
    sources: dict[int, Mapping[str, Any]] = field(default_factory=dict)
    choices: Sequence[str] = ()
    notices: Sequence[str] = ()
    stop_reason: str = ""
    error: str = ""
    annotations: Sequence[Mapping[str, Any]] = ()

    @property
    def cited(self) -> list[int]:
        """Return the numbers of the sources that the text refers to."""
        return sorted({int(found) for found in _MARK.findall(self.text)} & self.sources.keys())

    def begin_again(self) -> None:
        """Discard the text, because the answer is retold from the start."""
        self.text, self.sources, self.choices = "", {}, ()

    def took(self, event: Mapping[str, Any]) -> str:
        """Process an event and return the text it adds. event: one of `agent.events.Event`, as JSON."""
        match event["response_type"]:
            case "references":
                cited = [*event["knowledge_references"], *event["query_references"], *event["web_references"]]
                cited += event["verified_references"]
                self.sources |= {item["number"]: item for item in cited}
            case "complete":
                self.stop_reason, self.notices = event["data"].get("stop_reason", ""), event["data"].get("notices", ())
                tables = self._render_result_tables()
                self.text += tables
                return tables
            case "error":
                self.error = event["content"]
            case "answer":
                self.choices = event["data"].get("readings", self.choices)
                piece = _neutralise_markdown(event["content"])
                if event["data"].get("is_checked") is False and piece.strip():
                    piece = _append_mark(piece, self._make_unchecked_mark())
                if event["data"].get("is_outside") and piece.strip():
                    piece = _append_mark(piece, self._make_outside_mark())
                self.text += piece
                return str(piece)
        return ""

    def close(self) -> str:
        """Append and return the text below the answer: choices, notices, and the cited sources.

        Sources are Markdown footnotes, one line each, also readable as plain text; the marks in the text refer to them.
        """
        choices = [f"- {make_markdown_inert(fold_to_one_line(choice))}" for choice in self.choices]
        notices = [make_markdown_inert(fold_to_one_line(notice)) for notice in self.notices]
        sources = [
            f'[{number}]: {escape_markdown_address(self.url_of(number))} "{escape_markdown_label(self.title_of(number))}"'
            for number in self.cited
        ]
        below = "".join(f"\n\n{chr(10).join(part)}" for part in (choices, notices, sources) if part)
        self.annotations = self._build_annotations()
        self.text += below
        return below

    def _make_unchecked_mark(self) -> str:
        with override(self.run.language):
            return _("(not checked against its source)")

    def _make_outside_mark(self) -> str:
        with override(self.run.language):
            return _("(from outside)")

    def _render_result_tables(self) -> str:
        """Return the first rows of each cited result whose sentence does not list them, and where the rest is."""
        results = [(number, self.sources[number].get("result")) for number in self.cited]
        is_chinese = self.run.language.startswith("zh")
        tables = [
            format_first_rows(QueryShown.model_validate(result), number, is_chinese=is_chinese)
            for number, result in results
            if result
        ]
        return "".join(f"\n\n{_neutralise_markdown(table)}" for table in tables if table)

    def _build_annotations(self) -> list[dict[str, Any]]:
        return [
            {
                "type": "url_citation",
                "url_citation": {
                    "start_index": found.start(),
                    "end_index": found.end(),
                    "url": self.url_of(int(found[1])),
                    "title": self.title_of(int(found[1])),
                },
            }
            for found in _MARK.finditer(self.text)
            if int(found[1]) in self.sources
        ]

    def url_of(self, number: int) -> str:
        """Return the address of a source: its passage, the conversation with the query's table, or a web page."""
        source = self.sources[number]
        if "url" in source:
            return str(source["url"])
        if "chunk_id" in source:
            path = reverse("document", args=[source["knowledge_id"]])
            return f"{self.site}{path}?{urlencode({'chunk': source['chunk_id']})}#cited"
        return self.site + reverse("conversation", args=[self.run.session_id])

    def title_of(self, number: int) -> str:
        source = self.sources[number]
        named = [source.get("title") or source["question"], *source.get("heading_path", [])]
        return " › ".join(filter(None, map(fold_to_one_line, named)))


def _neutralise_markdown(piece: str) -> str:
    """Return a piece as the chat page shows it, without anything that loads or links. A line of code stays as it is."""
    gap = piece[: len(piece) - len(piece.lstrip())]
    return piece if parse_code_indent(gap) is not None else make_markdown_inert(piece)


def _append_mark(piece: str, mark: str) -> str:
    """Return a piece of the answer with a mark after its words."""
    words = piece.rstrip()
    return f"{words} {mark}{piece[len(words) :]}"


async def stream_answer_pieces(
    principal: Principal, answer: TextAnswer, *, is_sent: bool
) -> AsyncGenerator[str | None, None]:
    """Launch the run and yield the pieces of its answer; None for each wait without events.

    A reader that leaves early stops the run. is_sent: sent text cannot be taken back, so an answer that must be retold,
    because a right has ended or its log is lost, ends with an error; else it begins again.
    """
    run, is_over = answer.run, False
    try:
        launch_run(run)
        followed = follow_run(principal, session_id=run.session_id, message_id=run.message_id, is_own=True)
        async with aclosing(followed) as entries:
            async for entry in entries:
                if entry is not None and entry.seq == 0 and answer.text:
                    if is_sent:
                        answer.error = format_unreadable_notice(run.language)
                        return
                    answer.begin_again()
                is_over = entry is not None and entry.is_terminal
                yield answer.took(json.loads(entry.body)) if entry else None
    except CopilotError as problem:  # the account was disabled
        answer.error, is_over = str(problem), True
    except RedisError:
        log.exception("text_answer.log_lost", run=str(run.message_id))
        answer.error = _("Something went wrong on our side. Ask again in a moment.")
    finally:
        if not is_over:
            with suppress(RedisError):
                await request_stop(run.message_id)
