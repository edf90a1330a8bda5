"""Answers in the formats of OpenAI's chat completions: whole, or in chunks."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agent.events import StopReason
from agent.text_answer import TextAnswer


@dataclass
class OpenAIAnswer(TextAnswer):
    """model: as requested. created: in seconds since 1970."""

    model: str = "copilot"
    created: int = field(default_factory=lambda: int(time.time()))

    @property
    def id(self) -> str:
        return f"chatcmpl-{self.run.message_id.hex}"

    @property
    def finish(self) -> str:
        return "length" if self.stop_reason in {StopReason.BUDGET_EXHAUSTED, StopReason.CANCELLED} else "stop"

    def whole(self) -> dict[str, Any]:
        message = {
            "role": "assistant",
            "content": self.text,
            "refusal": None,
            "annotations": self.annotations,
        }
        choice = {"index": 0, "message": message, "finish_reason": self.finish, "logprobs": None}
        return {**self._build_head("chat.completion"), "choices": [choice], "usage": self._build_token_usage()}

    def chunk(self, delta: Mapping[str, Any], *, finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return {**self._build_head("chat.completion.chunk"), "choices": [choice]}

    def used(self) -> dict[str, Any]:
        return {**self._build_head("chat.completion.chunk"), "choices": [], "usage": self._build_token_usage()}

    def _build_head(self, kind: str) -> dict[str, Any]:
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model}

    def _build_token_usage(self) -> dict[str, Any]:
        """Return the tokens of the language model, 0 where none was used."""
        spent = self.run.spent
        return {
            "prompt_tokens": spent.input_tokens,
            "prompt_tokens_details": {"cached_tokens": spent.cached_tokens},
            "completion_tokens": spent.output_tokens,
            "total_tokens": spent.tokens,
        }


def format_event_frame(body: Mapping[str, Any]) -> bytes:
    return f"data: {json.dumps(body, ensure_ascii=False)}\n\n".encode()
