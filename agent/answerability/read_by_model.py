"""A language model reads in the verdict's place: does one of these passages answer, and which words do? One structured call.

As with the judge of sentences, it is shown passages fenced and without what talks to whoever answers, and its word counts only as far as
the words it names stand in the passage that it names.
"""

from collections.abc import Sequence

from pydantic import BaseModel

from agent.answerability.classifier import beside
from agent.attribution.check import Evidence
from agent.attribution.judge import block, is_quoted
from agent.extractive.passages import Passage, Quote
from agent.extractive.questions import analyse
from agent.fencing import PASSAGE_CHARACTERS, bounded, escaped
from agent.providers.base import ChatModel
from agent.providers.structured import complete

MOST = 5  # passages that it is shown: those that a person would be shown


class Reading(BaseModel):
    """passage: its number in the call, 0 where none answers. quote: the words that do, letter by letter."""

    passage: int = 0
    quote: str = ""


async def read_by(model: ChatModel, system: str, question: str, passages: Sequence[Passage]) -> tuple[Quote, ...]:
    """The sentences that hold the words the model names; none where it names no passage, words that do not stand in one place there,
    or a sentence about something else than is asked.

    system: the prompt. passages: best first. Raises ModelError.
    """
    shown = [bounded(Evidence(passage.text).says, PASSAGE_CHARACTERS) for passage in passages[:MOST]]
    if not shown:
        return ()
    blocks = [block("evidence", number, text) for number, text in enumerate(shown, 1)]
    content = "\n".join([*blocks, "", f"The question is: {escaped(question)}"])
    answer = await complete(
        model, [{"role": "system", "content": system}, {"role": "user", "content": content}], Reading
    )
    place = answer.passage - 1
    if not 0 <= place < len(shown) or not is_quoted(answer.quote, shown[place]):
        return ()
    quotes = _sentences_of(answer.quote, place, passages[place], shown[place])
    said = "\n".join(quote.text for quote in quotes)
    return () if beside(analyse(question), passages[place], said) else quotes


def _sentences_of(quote: str, place: int, passage: Passage, shown: str) -> tuple[Quote, ...]:
    """The one sentence of what was shown that holds the words, none where several do; where the words reach over several sentences,
    those that stand in them.
    """
    raw = {each.start: passage.text[each.start : each.end] for each in passage.sentences if each.kind != "heading"}
    sentences = [
        each
        for each in passage.sentences
        if each.start in raw and (is_quoted(each.text, shown) or is_quoted(raw[each.start], shown))
    ]
    whole = [each for each in sentences if is_quoted(quote, raw[each.start]) or is_quoted(quote, each.text)]
    chosen = whole or [each for each in sentences if is_quoted(each.text, quote)]
    if len(whole) > 1:
        return ()
    return tuple(Quote(each.text, place, each.start, each.end, 0.0, 1.0) for each in chosen)
