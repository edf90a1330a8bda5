"""Classify a question by rules, for when there is no model, or it fails. Doubtful questions go to the documents."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from agent.arithmetic.evaluate import Unworkable, evaluate_expression, format_value
from agent.run_state.state import Route
from agent.text.words import load_word_pattern_from
from knowledge.text.chinese_script import simplify_chinese

WORDING: Final = Path(__file__).with_name("wording.yaml")
GREETING = "greeting"  # the intent of a greeting or thanks
UNCLEAR = "unclear"  # … of a question without a topic
GOES_ON = "goes_on"  # … of a follow-up on a result
REFUSED: Final = ("asks_to_get_around_rights", "asks_for_secrets", "asks_to_change_data")


@dataclass(frozen=True)
class Ruling:
    """expression: what to calculate, for CALC. readings: what may be meant, for CLARIFY."""

    route: Route
    intent: str
    expression: str = ""
    readings: tuple[str, ...] = ()


@dataclass(frozen=True)
class QuestionSteps:
    """documents: the first step's question. data: the second step's question.

    points_back: it refers to what the documents name.
    """

    documents: str
    data: str

    @property
    def points_back(self) -> bool:
        return matches_word_list("points_back", self.data)


def classify_question(question: str, *, is_data: Callable[[str], bool]) -> tuple[Ruling, QuestionSteps | None]:
    """Classify a complete question, and split it in two where both documents and data are needed.

    is_data: whether the business data understand a text as a whole.
    """
    if ruling := _classify_without_sources(question):
        return ruling, None
    if is_data(question):
        return Ruling(Route.SQL, "ask_data"), None
    if steps := split_into_steps(question, is_data):
        return Ruling(Route.HYBRID, "ask_both"), steps
    return Ruling(Route.DOC, "ask_documents"), None


def _classify_without_sources(question: str) -> Ruling | None:
    """Classify a question that needs neither documents nor data."""
    if refusal := next((name for name in REFUSED if _is_refused_request(name, question)), ""):
        return Ruling(Route.REFUSE, refusal)
    if is_greeting(question):
        return Ruling(Route.CLARIFY, GREETING)
    if matches_word_list("vague", strip_final_punctuation(question)) or matches_word_list(
        "in_language", strip_final_punctuation(question)
    ):
        return Ruling(Route.CLARIFY, UNCLEAR)
    if is_arithmetic(question):
        return Ruling(Route.CALC, "calculate", expression=question)
    return None


def matches_word_list(name: str, text: str) -> bool:
    """Return whether a text has one of the words of a list."""
    return load_word_pattern_from(WORDING, name).search(simplify_chinese(text)) is not None


def strip_final_punctuation(question: str) -> str:
    """Return a question without its final punctuation."""
    return question.strip().rstrip("?？!！。. ")


def is_greeting(question: str) -> bool:
    """Return whether a text is only a greeting, thanks, or a question about the assistant."""
    parts = [part.strip() for part in re.split(r"[,，!！。.?？~～]+", question) if part.strip()]
    return bool(parts) and all(
        load_word_pattern_from(WORDING, "greeting").match(simplify_chinese(part)) for part in parts
    )


def is_arithmetic(question: str) -> bool:
    """Return whether the whole question is an expression that can be evaluated, and more than a number."""
    if not re.search(r"\d", question) or len(question) > 200:
        return False
    try:
        value = format_value(evaluate_expression(question))
    except Unworkable:
        return False
    return value != question.strip() and not re.fullmatch(r"[\d\s,.\-/年月日号]+[?？]?", question.strip())


def split_into_steps(question: str, is_data: Callable[[str], bool]) -> QuestionSteps | None:
    """Split a question in two if the data can answer one part, or count what the other part names.

    A condition before a comma is no question: “In Europe, how many customers do we have?” has one part.
    """
    parts = [part.strip() for part in load_word_pattern_from(WORDING, "clause").split(question) if part.strip()]
    if len(parts) < 2:
        return None
    back = next((place for place, part in enumerate(parts) if place and _asks_to_count_named(part)), 0)
    is_of_data = [place >= back if back else is_data(part) for place, part in enumerate(parts)]
    documents = [part for part, flag in zip(parts, is_of_data, strict=True) if not flag]
    data = [part for part, flag in zip(parts, is_of_data, strict=True) if flag]
    is_asked = any(
        matches_word_list("opens", part) and not matches_word_list("asks_number", part) for part in documents
    )
    if not data or not is_asked:
        return None
    return QuestionSteps(_join_question_parts(documents, question), _join_question_parts(data, question))


def _asks_to_count_named(part: str) -> bool:
    return matches_word_list("points_back", part) and matches_word_list("asks_number", part)


def _join_question_parts(parts: list[str], question: str) -> str:
    is_chinese = any("\u3400" <= character <= "\u9fff" for character in question)
    return ("，" if is_chinese else ", ").join(parts) + ("？" if is_chinese else "?")


def _is_refused_request(name: str, question: str) -> bool:
    """Return whether a request is refused for everybody. A question about such a request is searched like any other."""
    return not matches_word_list("asks", question) and matches_word_list(name, question)
