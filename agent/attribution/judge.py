"""Let a language model judge what facts cannot settle: open sentences, each with its cited passages.

It replies with one line of verdict for each. A verdict counts only where its quotation stands in those passages, letter
by letter, and does not contradict the facts of the sentence. The evidence is fenced, and stripped of instructions to
the model.
"""

import html
import re
import unicodedata
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import date
from typing import Any

from asgiref.sync import sync_to_async

from agent.attribution.check import Evidence
from agent.attribution.facts import find_quote_conflict
from agent.evidence.fencing import PASSAGE_CHARACTERS, escape_document_text, truncate_middle
from agent.providers.base import ChatModel, Delta, Message, ModelUnreadable, Shape, WrappedModel
from agent.revocation import require_readable_sources
from agent.run_state.run import Run
from knowledge.text.normalise import normalise_text

MIN_QUOTED = 2  # characters
MAX_CHARACTERS = 12_000  # of one reply
_LINE = re.compile(r"\W*(?P<number>\d{1,3})[.:)]?\s+(?P<verdict>[SCN])(?![\w])[\s:,.-]*(?P<quote>.*)")
_LEFT_OUT = re.compile(r"…+|\.{3,}")
_LETTER = r"[^\W\u3040-\u9fff\uac00-\ud7af]"  # a letter of a script with spaces between words, or a digit
_NUMERAL = "[零〇一二两三四五六七八九十百千万亿]"


@dataclass(frozen=True)
class OpenSentence:
    """number: in the call. before: the sentence before it, "" for none. evidence: what it cites, by number."""

    number: int
    text: str
    before: str
    evidence: Mapping[int, Evidence]


@dataclass
class LooksFirst(WrappedModel):
    """A model that checks rights before each call."""

    run: Run

    async def stream(
        self, messages: Sequence[Message], *, tools: Sequence[Mapping[str, Any]] = (), shape: Shape | None = None
    ) -> AsyncIterator[Delta]:
        """Check rights, then stream the reply. Raises EvidenceGone, and the model's errors."""
        await sync_to_async(require_readable_sources)(self.run)
        async for delta in self.model.stream(messages, tools=tools, shape=shape):
            yield delta


async def judge_sentences(
    model: ChatModel, system: str, question: str, sentences: Sequence[OpenSentence], *, today: date, also: str = ""
) -> AsyncIterator[tuple[int, bool]]:
    """Yield each sentence's number with whether its evidence supports it, as soon as its line is complete.

    A sentence is omitted where it was not judged, or where its quotation is made up or contradicts it. system: the
    prompt. today: the reference date for relative times. also: calculations of the run. Raises ModelError.
    """
    asked = {item.number: item for item in sentences}
    content = "\n".join([*_render_sentences(sentences), "", f"The question was: {escape_document_text(question)}"])
    messages = [{"role": "system", "content": system}, {"role": "user", "content": content}]
    async for line in _stream_lines(model, messages):
        found = _LINE.match(line)
        sentence = asked.pop(int(found["number"]), None) if found else None
        if found is None or sentence is None:
            continue
        is_said = found["verdict"] == "S"
        if not is_said or _is_quote_valid(sentence, found["quote"], question=question, today=today, also=also):
            yield sentence.number, is_said


def _render_sentences(sentences: Sequence[OpenSentence]) -> list[str]:
    evidence = {number: entry for sentence in sentences for number, entry in sentence.evidence.items()}
    shown = [
        render_fenced_block("evidence", number, truncate_middle(item.says, PASSAGE_CHARACTERS))
        for number, item in evidence.items()
    ]
    for item in sentences:
        cited = ",".join(map(str, item.evidence))
        before = f"<before>{escape_document_text(item.before)}</before>\n" if item.before else ""
        shown.append(
            f'<sentence number="{item.number}" evidence="{cited}">\n{before}{escape_document_text(item.text)}\n</sentence>'
        )
    return shown


async def _stream_lines(model: ChatModel, messages: Sequence[Mapping[str, Any]]) -> AsyncIterator[str]:
    """Yield the lines of a reply, each once it is complete. Raises ModelError."""
    rest, size = "", 0
    deltas: Any = model.stream(messages)
    async with aclosing(deltas):
        async for delta in deltas:
            if delta.was_thought:
                rest = ""
            *lines, rest = f"{rest}{delta.text}".split("\n")
            for line in lines:
                yield line
            if (size := size + len(delta.text)) > MAX_CHARACTERS:
                raise ModelUnreadable(f"{model.name} did not end its verdicts")
    yield rest


def _is_quote_valid(sentence: OpenSentence, words: str, *, question: str, today: date, also: str) -> bool:
    """Return whether the quotation is in the sentence's own evidence and does not contradict the sentence."""
    quote = html.unescape(words).strip().strip("\"“”「」'")
    text = "\n".join(item.says for item in sentence.evidence.values())
    return contains_quote_parts(quote, text) and not find_quote_conflict(
        sentence.text, quote, text, question=question, today=today, also=also
    )


def render_fenced_block(name: str, number: int, text: str) -> str:
    """Return a numbered text, fenced and escaped."""
    return f'<{name} number="{number}">\n{escape_document_text(text)}\n</{name}>'


def contains_quote_parts(quote: str, text: str) -> bool:
    """Return whether a text contains a quotation, or all its parts where it has ellipses."""
    parts = [part for part in _LEFT_OUT.split(quote) if part.strip()]
    return contains_quote(quote, text) or (len(parts) > 1 and all(contains_quote(part, text) for part in parts))


def contains_quote(quote: str, text: str) -> bool:
    """Return whether a text contains a quotation in whole words and numbers.

    Case, width, white space and surrounding marks are ignored.
    """
    plain = _fold_text(html.unescape(quote)).strip(" .…\"“”'")
    return len(plain) >= MIN_QUOTED and re.search(_build_quote_pattern(plain), _fold_text(text)) is not None


def _build_quote_pattern(plain: str) -> str:
    """Return a pattern that matches whole words and numbers only: 30 is not in 2030, 1.30 or 30,000."""
    before = r"(?<!\d[.,])" if plain[0].isdigit() else ""
    after = r"(?![.,]\d)" if plain[-1].isdigit() else ""
    for kind in (_LETTER, _NUMERAL):
        before += f"(?<!{kind})" if re.match(kind, plain[0]) else ""
        after += f"(?!{kind})" if re.match(kind, plain[-1]) else ""
    return before + re.escape(plain) + after


def _fold_text(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", normalise_text(text)).casefold().split())
