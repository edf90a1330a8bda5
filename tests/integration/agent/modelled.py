"""Asking with a scripted model behind the product's own client."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.test import override_settings

from agent.providers import breaker
from agent.providers.openai_compatible import ModelLimits
from tests.modelserver import ModelServer, Request, Step, calls, says, says_json, serving

SEARCH = calls(("knowledge_search", {"queries": ["annual leave days"]}))
DONE = says("DONE")
THIRTY = "Employees have 30 days of annual leave in each calendar year [1]."
QUICK = ModelLimits(first_s=20, between_s=20, total_s=60, attempts=2, first_wait_s=0.001)
HURRIED = replace(QUICK, first_s=0.3, between_s=0.3, total_s=1.0, attempts=1)


@contextmanager
def modelled(
    *steps: Step, chooses: Callable[[Request], Step] | None = None, limits: ModelLimits = QUICK, **more: Any
) -> Iterator[ModelServer]:
    """The product with this model configured. more: of settings.LLM."""
    breaker._breakers.clear()
    with serving(*steps, chooses=chooses) as server:
        chosen = {**settings.LLM, "base_url": server.base_url, "model": "scripted", "limits": limits, **more}
        chosen |= {"price_input": Decimal(10), "price_output": Decimal(20)}
        with override_settings(LLM=chosen):
            yield server
    breaker._breakers.clear()


def routes(kind: str = "DOC", **more: Any) -> Step:
    """The model's answer to where a question goes."""
    return says_json({"route": kind, "intent": "ask", **more})


def judges(verdict: str = "not_said", *, quote: str = "", sentences: Sequence[int] = range(1, 25)) -> Step:
    """The judge's answer: one verdict on each of these sentences."""
    return says_json({"judgements": [{"sentence": n, "verdict": verdict, "quote": quote} for n in sentences]})


def is_judged(request: Request) -> bool:
    """Whether a request asks the judge."""
    return '<sentence number="' in sent(request)


def evidence_sent(request: Request) -> str:
    """What a request says, without the sentences that the judge is asked about: the model wrote those itself."""
    return re.sub(r"<sentence .*?</sentence>", "", sent(request), flags=re.DOTALL)


def sent(request: Request) -> str:
    """All that a request says."""
    return "\n".join(str(message.get("content") or "") for message in request["messages"])


def roles(request: Request) -> Sequence[str]:
    return [message["role"] for message in request["messages"]]


def of(events: list[Any], kind: type) -> list[Any]:
    """The events of one kind, in order."""
    return [event for event in events if isinstance(event, kind)]
