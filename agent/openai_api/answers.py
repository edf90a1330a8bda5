"""A run's events as OpenAI's API says an answer: whole, or in chunks. Both are made from the same pieces."""

import json
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import override

from agent.cited_answer import code_indent
from agent.events import StopReason
from agent.run import Run
from copilot_site.lib.markdown_text import inert_markdown, markdown_address, markdown_label
from copilot_site.lib.one_line import one_line

_MARK = re.compile(r"\[(\d+)\]")


@dataclass
class Answer:
    """An answer as it grows. site: the address of this site, without a slash at its end; model: as it was asked for.

    choices: complete questions that may have been meant. stop_reason: how the run ended; notices: what was done otherwise than one would
    expect. annotations: each mark in the text with the source it stands for, once it is closed.
    """

    run: Run
    model: str
    site: str
    text: str = ""
    sources: dict[int, Mapping[str, Any]] = field(default_factory=dict)
    choices: Sequence[str] = ()
    notices: Sequence[str] = ()
    stop_reason: str = ""
    error: str = ""
    annotations: Sequence[Mapping[str, Any]] = ()
    created: int = field(default_factory=lambda: int(time.time()))

    @property
    def id(self) -> str:
        return f"chatcmpl-{self.run.message_id.hex}"

    @property
    def finish(self) -> str:
        return "length" if self.stop_reason in {StopReason.BUDGET_EXHAUSTED, StopReason.CANCELLED} else "stop"

    def begin_again(self) -> None:
        """Forget what was said: it is told anew."""
        self.text, self.sources, self.choices = "", {}, ()

    def took(self, event: Mapping[str, Any]) -> str:
        """What an event adds to the text. event: one of `agent.events.Event`, as JSON has it."""
        match event["response_type"]:
            case "references":
                cited = [*event["knowledge_references"], *event["query_references"], *event["web_references"]]
                cited += event["verified_references"]
                self.sources |= {each["number"]: each for each in cited}
            case "complete":
                self.stop_reason, self.notices = event["data"].get("stop_reason", ""), event["data"].get("notices", ())
            case "error":
                self.error = event["content"]
            case "answer":
                self.choices = event["data"].get("readings", self.choices)
                piece = _inert(event["content"])
                if event["data"].get("is_checked") is False and piece.strip():
                    piece = _with(piece, self._marked())
                if event["data"].get("is_outside") and piece.strip():
                    piece = _with(piece, self._from_outside())
                self.text += piece
                return str(piece)
        return ""

    def close(self) -> str:
        """What stands below the answer, and is its end from now on: choices, what was done otherwise, the sources that it cites.

        Sources stand as Markdown has footnotes: the marks of the text lead there, and plain text reads as well. Each is one line.
        """
        choices = [f"- {inert_markdown(one_line(choice))}" for choice in self.choices]
        notices = [inert_markdown(one_line(notice)) for notice in self.notices]
        cited = sorted({int(found) for found in _MARK.findall(self.text)} & self.sources.keys())
        sources = [
            f'[{number}]: {markdown_address(self.url_of(number))} "{markdown_label(self.title_of(number))}"'
            for number in cited
        ]
        below = "".join(f"\n\n{chr(10).join(part)}" for part in (choices, notices, sources) if part)
        self.annotations = self._annotations()
        self.text += below
        return below

    def _marked(self) -> str:
        with override(self.run.language):
            return _("(not checked against its source)")

    def _from_outside(self) -> str:
        with override(self.run.language):
            return _("(from outside)")

    def _annotations(self) -> list[dict[str, Any]]:
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
        """Where the source opens for whoever may read it: its passage, the conversation with the query's table, or a page outside."""
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
        return " › ".join(filter(None, map(one_line, named)))

    def whole(self) -> dict[str, Any]:
        message = {
            "role": "assistant",
            "content": self.text,
            "refusal": None,
            "annotations": self.annotations,
        }
        choice = {"index": 0, "message": message, "finish_reason": self.finish, "logprobs": None}
        return {**self._head("chat.completion"), "choices": [choice], "usage": self._usage()}

    def chunk(self, delta: Mapping[str, Any], *, finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return {**self._head("chat.completion.chunk"), "choices": [choice]}

    def used(self) -> dict[str, Any]:
        """The chunk that says what it cost."""
        return {**self._head("chat.completion.chunk"), "choices": [], "usage": self._usage()}

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model}

    def _usage(self) -> dict[str, Any]:
        """Tokens of the language model, none where none wrote."""
        spent = self.run.spent
        return {
            "prompt_tokens": spent.input_tokens,
            "prompt_tokens_details": {"cached_tokens": spent.cached_tokens},
            "completion_tokens": spent.output_tokens,
            "total_tokens": spent.tokens,
        }


def _inert(piece: str) -> str:
    """A piece as the chat page shows it: nothing in it loads or links. A line of code stays as it is, and is none of Markdown's."""
    gap = piece[: len(piece) - len(piece.lstrip())]
    return piece if code_indent(gap) is not None else inert_markdown(piece)


def _with(piece: str, mark: str) -> str:
    """A piece of the answer with a mark behind its words."""
    words = piece.rstrip()
    return f"{words} {mark}{piece[len(words) :]}"


def frame(body: Mapping[str, Any]) -> bytes:
    return f"data: {json.dumps(body, ensure_ascii=False)}\n\n".encode()


def frames(bodies: Iterable[Mapping[str, Any]]) -> bytes:
    return b"".join(frame(body) for body in bodies)
