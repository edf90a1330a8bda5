"""Script a perfect model for the questions of `model_questions.yaml`: in a conversation with numbered evidence, and as the judge.

It asks the data first where a question needs them, searches once where the evidence lacks words that the answer needs, then answers.
"""

import html
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from evals.scripted_service import Delta, Request, calls, says
from knowledge.text.language import detect_language

FILE = Path(__file__).with_name("model_questions.yaml")
SOURCE = "demo"  # name of the data source
SEARCH, QUERY = "knowledge_search", "database_query"
NOTHING = "NO_ANSWER"
GROUPS = ("documents", "data", "both")
Group = Literal["documents", "data", "both"]
_EVIDENCE = re.compile(r'<evidence\b[^>]*?\bnumber="(\d+)"[^>]*>(.*?)</evidence>', re.DOTALL)
_SENTENCE = re.compile(r'<sentence\b[^>]*?\bnumber="(\d+)"[^>]*>(.*?)</sentence>', re.DOTALL)
_MARKS = re.compile(r"\[\d+\]|[`*_|\\]+")  # citations and Markdown
Messages = Sequence[Mapping[str, Any]]


class Sentence(BaseModel):
    """One sentence of an answer. words: of its source, "" for a query's result. says: the sentence, "" where it repeats the words."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    words: str = ""
    says: str = ""

    @property
    def text(self) -> str:
        return self.says or self.words

    def is_in(self, text: str) -> bool:
        """Tell whether a text says it, without regard to citations."""
        return folded(self.text) in folded(text)


class ScriptedQuestion(BaseModel):
    """A question of one person, and its answer (`model_questions.yaml`)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    group: Group
    ask: str
    username: str = Field(alias="as")
    sql: str = ""
    answer: tuple[Sentence, ...]

    @property
    def language(self) -> str:
        return "zh-hans" if detect_language(self.ask) == "zh" else "en"


def load_questions() -> list[ScriptedQuestion]:
    """Read the questions of the file, group by group."""
    groups = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    rows = [row | {"group": group} for group in GROUPS for row in groups[group]]
    return TypeAdapter(list[ScriptedQuestion]).validate_python(rows)


def folded(text: str) -> str:
    """Return a text to be compared: without citations, marks, case and the form of its spaces."""
    plain = unicodedata.normalize("NFKC", html.unescape(text))
    return " ".join(_MARKS.sub(" ", plain).casefold().split())


class Script:
    """Replies to requests as the perfect model."""

    def __init__(self, questions: Sequence[ScriptedQuestion]) -> None:
        self._questions = sorted(questions, key=lambda question: -len(question.ask))

    def reply(self, request: Request) -> Delta:
        """Reply to a request. Raises LookupError for one that is neither a question of the script nor the judge's."""
        messages = request["messages"]
        if any(_SENTENCE.search(_text(message)) for message in messages if message["role"] == "user"):
            return says("\n".join(self._verdicts(messages)))
        question = self._question(messages)
        made = {call["function"]["name"] for message in messages for call in message.get("tool_calls") or ()}
        left = {tool["function"]["name"] for tool in request.get("tools") or ()} - made
        if question.sql and QUERY in left:
            return calls(QUERY, {"sql": question.sql, "source": SOURCE})
        numbers = {sentence: _number(sentence, messages) for sentence in question.answer}
        missing = [sentence.words for sentence, number in numbers.items() if sentence.words and number is None]
        if missing and SEARCH in left:
            return calls(SEARCH, {"queries": missing})
        end, between = (".", " ") if question.language == "en" else ("。", "")
        cited = [f"{sentence.text} [{number}]{end}" for sentence, number in numbers.items() if number]
        return says(between.join(cited) or NOTHING)

    def _question(self, messages: Messages) -> ScriptedQuestion:
        for message in reversed(messages):
            for item in self._questions if message["role"] == "user" else ():
                if folded(item.ask) in folded(_text(message)):
                    return item
        raise LookupError("The script has no answer to this request.")

    def judged(self, request: Request) -> Iterator[tuple[str, Sentence | None]]:
        """Give the number of each sentence that the judge is asked about, and the script's sentence that it is."""
        for message in request["messages"]:
            for number, text in _SENTENCE.findall(_text(message)):
                yield number, self._sentence(text)

    def _verdicts(self, messages: Messages) -> Iterator[str]:
        for number, sentence in self.judged({"messages": messages}):
            words = _deciding(sentence, messages) if sentence else ""
            yield f'{number} S "{words}"' if words else f'{number} N ""'

    def _sentence(self, text: str) -> Sentence | None:
        """Find the last sentence of the script that a text has, because the one before it may be there, too."""
        known = [entry for question in self._questions for entry in question.answer if entry.is_in(text)]
        return max(known, key=lambda item: folded(text).rfind(folded(item.text)), default=None)


def _number(sentence: Sentence, messages: Messages) -> str | None:
    """Return the number of the evidence that says it: of the passage with its words, or of the query's result."""
    if sentence.words:
        pieces = _EVIDENCE.findall("\n".join(map(_text, messages)))
        return next((number for number, text in pieces if folded(sentence.words) in folded(text)), None)
    found = [_text(item) for item in messages if str(item.get("tool_call_id")).startswith(f"call_{QUERY}")]
    results = _EVIDENCE.findall("\n".join(found))
    return results[-1][0] if results else None


def _deciding(sentence: Sentence, messages: Messages) -> str:
    """Return the words that decide, as the judge's evidence has them, "" where it has none; of a result the lines with its numbers."""
    texts = [html.unescape(text) for message in messages for _number, text in _EVIDENCE.findall(_text(message))]
    if sentence.words:
        return sentence.words if any(folded(sentence.words) in folded(text) for text in texts) else ""
    numbers = _numbers_in(sentence.text)
    return " … ".join(line.strip() for text in texts for line in text.splitlines() if numbers & _numbers_in(line))


def _numbers_in(text: str) -> set[str]:
    return set(re.findall(r"\d+", text.replace(",", "")))


def _text(message: Mapping[str, Any]) -> str:
    return str(message.get("content") or "")
