"""A language model reads what facts cannot settle: all open sentences of an answer in one call, each with the words that decide.

What it says counts only as far as its quotation stands in the evidence, letter by letter, and no fact of the sentence stands against that
quotation; the evidence it is shown is fenced, and without what talks to whoever answers.
"""

import html
import re
import unicodedata
from collections.abc import Mapping
from datetime import date
from typing import Literal

from pydantic import BaseModel, Field

from agent.attribution.check import Evidence
from agent.attribution.quoted_facts import quoted_conflict
from agent.fencing import PASSAGE_CHARACTERS, bounded, escaped
from agent.providers.base import ChatModel
from agent.providers.structured import complete
from knowledge.text.normalise import normalise

LEAST_QUOTED = 2  # characters
_LEFT_OUT = re.compile(r"…+|\.{3,}")
_LETTER = r"[^\W\u3040-\u9fff\uac00-\ud7af]"  # of a script that sets words apart, or a digit
_NUMERAL = "[零〇一二两三四五六七八九十百千万亿]"


class Judgement(BaseModel):
    """One sentence, by its number in the call."""

    sentence: int
    verdict: Literal["supported", "contradicted", "not_said"]
    quote: str = ""
    reason: str = ""


class Judgements(BaseModel):
    judgements: list[Judgement] = Field(default_factory=list)


async def judged(
    model: ChatModel,
    system: str,
    question: str,
    sentences: Mapping[int, str],
    evidence: Mapping[int, Evidence],
    *,
    today: date,
    also: str = "",
) -> dict[int, bool]:
    """Whether the evidence says each sentence; one is missing that was not judged, whose quotation is made up, or which a fact of that
    quotation speaks against.

    system: the prompt. today: what relative times count from. also: calculations of the run. Raises ModelError.
    """
    said = {number: bounded(each.says, PASSAGE_CHARACTERS) for number, each in evidence.items()}
    blocks = [block("evidence", number, text) for number, text in said.items()]
    blocks += [block("sentence", number, text) for number, text in sentences.items()]
    content = "\n".join([*blocks, "", f"The question was: {escaped(question)}"])
    messages = [{"role": "system", "content": system}, {"role": "user", "content": content}]
    answer = await complete(model, messages, Judgements)
    together = "\n".join(said.values())

    def counts(each: Judgement) -> bool:
        sentence = sentences.get(each.sentence)
        if sentence is None or each.verdict != "supported":
            return sentence is not None
        return stands_quoted(each.quote, together) and not quoted_conflict(
            sentence, html.unescape(each.quote), together, question=question, today=today, also=also
        )

    return {each.sentence: each.verdict == "supported" for each in answer.judgements if counts(each)}


def block(name: str, number: int, text: str) -> str:
    """A numbered text, fenced and escaped."""
    return f'<{name} number="{number}">\n{escaped(text)}\n</{name}>'


def stands_quoted(quote: str, text: str) -> bool:
    """Whether a quotation stands in a text, or all its parts do where it leaves out what is between them."""
    parts = [part for part in _LEFT_OUT.split(quote) if part.strip()]
    return is_quoted(quote, text) or (len(parts) > 1 and all(is_quoted(part, text) for part in parts))


def is_quoted(quote: str, text: str) -> bool:
    """Whether a quotation stands in a text in whole words and numbers, but for case, width, white space and the marks around it."""
    plain = _folded(html.unescape(quote)).strip(" .…\"“”'")
    return len(plain) >= LEAST_QUOTED and re.search(_bordered(plain), _folded(text)) is not None


def _bordered(plain: str) -> str:
    """A pattern of it that no part of a word or number fits: 30 is not in 2030, 1.30 or 30,000."""
    before = r"(?<!\d[.,])" if plain[0].isdigit() else ""
    after = r"(?![.,]\d)" if plain[-1].isdigit() else ""
    for kind in (_LETTER, _NUMERAL):
        before += f"(?<!{kind})" if re.match(kind, plain[0]) else ""
        after += f"(?!{kind})" if re.match(kind, plain[-1]) else ""
    return before + re.escape(plain) + after


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", normalise(text)).casefold().split())
