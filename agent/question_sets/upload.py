"""Question sets from files: JSON lines with one question each, as in evaluation sets, and relevance judgements."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext as _

from agent.runs.start import QUESTION_LENGTH
from copilot_site.lib.errors import InvalidInput
from copilot_site.lib.text.json_input import load_json

FILE_BYTES = 5_000_000
MAX_CASES = 2_000
MAX_WORDS = 50  # of one list


@dataclass(frozen=True)
class UploadedQuestion:
    """One question of a file. person: a username, "" for the one chosen beside the file."""

    id: str
    question: str
    person: str
    is_answerable: bool | None
    answers: list[str]
    documents: list[str]
    forbidden: list[str]


def read_uploaded_text(file: UploadedFile[Any]) -> str:
    """Return the text of an uploaded file. Raises InvalidInput where it is too large, or not UTF-8."""
    if (file.size or 0) > FILE_BYTES:
        raise InvalidInput(_("The file is larger than 5 MB."))
    try:
        return str(file.read().decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InvalidInput(_("The file is not UTF-8 text: save it as UTF-8.")) from error


def parse_question_lines(questions: str, judgements: str = "") -> list[UploadedQuestion]:
    """Parse a file of questions. Raises InvalidInput with the line.

    questions: JSON lines with `text` or `question`; also `id`, `person`, `answerable`, `answers`, `documents`,
    `must_not`. judgements: lines of query id, document and score, with a header, as TREC's qrels in TSV: scores above 0
    may be cited.
    """
    cited = _parse_judgements(judgements)
    found = [
        _parse_question_line(number, text, cited)
        for number, text in enumerate(questions.splitlines(), start=1)
        if text.strip()
    ]
    if not found:
        raise InvalidInput(_("The file has no questions."))
    if len(found) > MAX_CASES:
        raise InvalidInput(_("A set has at most %(most)s questions.") % {"most": MAX_CASES})
    return found


def _parse_question_line(number: int, text: str, cited: dict[str, list[str]]) -> UploadedQuestion:
    try:
        given: Any = load_json(text)
    except ValueError as error:
        raise InvalidInput(_("Line %(n)s is not JSON.") % {"n": number}) from error
    if not isinstance(given, dict):
        raise InvalidInput(_("Line %(n)s is not an object with a question.") % {"n": number})
    question = given.get("question") or given.get("text")
    if not isinstance(question, str) or not question.strip() or "\x00" in question:
        raise InvalidInput(_("Line %(n)s has no question in “text” or “question”.") % {"n": number})
    if len(question) > QUESTION_LENGTH:
        raise InvalidInput(_("The question of line %(n)s is too long.") % {"n": number})
    answerable, key, person = given.get("answerable"), given.get("id", ""), given.get("person", "")
    if not isinstance(answerable, bool | None) or not isinstance(key, str | int) or not isinstance(person, str):
        raise InvalidInput(_("Line %(n)s: “answerable” is true or false, “id” and “person” are texts.") % {"n": number})
    return UploadedQuestion(
        id=str(key),
        question=question.strip(),
        person=person.strip(),
        is_answerable=answerable,
        answers=_read_text_list(number, given, "answers"),
        documents=list(dict.fromkeys([*_read_text_list(number, given, "documents"), *cited.get(str(key), [])]))[
            :MAX_WORDS
        ],
        forbidden=_read_text_list(number, given, "must_not"),
    )


def _read_text_list(number: int, given: dict[str, Any], name: str) -> list[str]:
    texts = given.get(name) or []
    if not isinstance(texts, list) or not all(isinstance(item, str) and "\x00" not in item for item in texts):
        raise InvalidInput(_("Line %(n)s: “%(name)s” is a list of texts.") % {"n": number, "name": name})
    return [item for item in texts[:MAX_WORDS] if item.strip()]


def _parse_judgements(text: str) -> dict[str, list[str]]:
    """Return the documents with a score above 0, by query id."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for number, line in enumerate(text.splitlines(), start=1):
        parts = line.split("\t")
        if number == 1 or not line.strip():
            continue
        try:
            query, document, score = parts[0], parts[-2], float(parts[-1])
        except (IndexError, ValueError) as error:
            raise InvalidInput(
                _("Line %(n)s of the judgements is not: query id, document, score, with tabs between.") % {"n": number}
            ) from error
        if score > 0:
            found[query].append(document)
    return found
