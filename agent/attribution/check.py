"""Check whether a piece of evidence supports a sentence. Facts are compared one by one; everything else is left open."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from agent.attribution.facts import check_facts
from agent.attribution.table_check import check_table
from agent.attribution.tables import parse_cell_number, parse_evidence_table
from agent.attribution.verdict import SUPPORTED, SentenceCheck, Verdict, make_contradicted, make_unsettled
from agent.evidence.injection_filter import find_injections, remove_injections
from agent.text.overlap import compute_term_coverage
from agent.text.sentences import split_sentences
from business.parsing.reader.units import normalise_text

ORDERED = 0.8  # share of a sentence's words from which it repeats a prompt injection; chosen by hand
OTHERS = 2  # uncited pieces of evidence that a sentence is also compared with
SAID = (Verdict.SUPPORTED, Verdict.LIKELY)
# Telephone and account numbers: they are never calculated, and every digit counts.
_NUMBER_OF_ITS_OWN = re.compile(r"(?<![\w.,/-])(?:(?:\+|00?)\d[\d ()/-]{5,}\d|\d(?:[ -]?\d){11,})(?![\w])")
_ADDRESS = re.compile(r"(?:https?://|www\.)[^\s<>（）()\[\]，。；、]+|[\w.+-]+@[\w-]+\.[\w.]+", re.IGNORECASE)


@dataclass(frozen=True)
class Evidence:
    """text: as the model was given it; instructions to the model are not evidence. is_result: of a query."""

    text: str
    is_result: bool = False

    @property
    def says(self) -> str:
        return remove_injections(self.text)


def check_sentence(sentence: str, evidence: Evidence, *, question: str, today: date, also: str = "") -> SentenceCheck:
    """Return the evidence's verdict on the sentence.

    also: calculations of the run; today: the reference date for relative times.
    """
    found = _check_whole_evidence(sentence, evidence, question=question, today=today, also=also)
    if found.verdict is Verdict.CONTRADICTED or not (rows := _find_matching_rows(sentence, evidence.says)):
        return found
    (_name, _first), *others = _parse_row_cells(sentence)
    if any(all((name, value) in row for name, value in others) for row in rows):
        return SUPPORTED
    is_whole = any(all(_contains_cell(row, name, value) for name, value in others) for row in rows)
    return found if is_whole or found.verdict not in SAID else make_unsettled("another cell")


def _check_whole_evidence(
    sentence: str, evidence: Evidence, *, question: str, today: date, also: str = ""
) -> SentenceCheck:
    text = evidence.says
    orders = find_injections(evidence.text)
    is_order = orders and compute_term_coverage(sentence, orders) > max(ORDERED, compute_term_coverage(sentence, text))
    if find_injections(sentence) or is_order:
        return make_contradicted("order")
    for address in _ADDRESS.findall(sentence):
        if address.rstrip(".,;:!?").casefold() not in text.casefold():
            return make_contradicted("address")
    digits = _join_digits(f"{text}\n{also}")
    if any(_join_digits(found) not in digits for found in _NUMBER_OF_ITS_OWN.findall(sentence)):
        return make_contradicted("number")
    table = parse_evidence_table(text)
    if table is not None:
        found = check_table(sentence, table, question=f"{question} {also}", today=today)
        if evidence.is_result or found.verdict is Verdict.SUPPORTED:
            return found
    return check_facts(sentence, text, also=also)


def _join_digits(text: str) -> str:
    """Return the text without separators between digits: 0571-555 0142 becomes 05715550142."""
    return re.sub(r"(?<=\d)[ ()/-]+(?=\d)|(?<=\d)\) ?(?=\d)", "", text)


def _find_matching_rows(sentence: str, text: str) -> list[list[tuple[str, str]]]:
    """Return the rows of a text that begin like a row that a model wrote, as columns and values.

    A model's row reads "City: Rome; Limit: 160".
    """
    (_name, first), *others = _parse_row_cells(sentence)
    rows = [_parse_row_cells(item.text) for item in split_sentences(text) if item.kind == "row"] if others else []
    return [row for row in rows if first in (value for _column, value in row)]


def _parse_row_cells(line: str) -> list[tuple[str, str]]:
    """Return the columns and values of a row said with its header; for other text, the whole text alone."""
    first, *others = line.split("; ")
    pairs = [part.partition(": ") for part in others]
    if not others or not all(colon for _name, colon, _value in pairs):
        return [("", normalise_text(line))]
    return [(normalise_text(n), normalise_text(v)) for n, _colon, v in (first.rpartition(": "), *pairs)]


def _contains_cell(row: Sequence[tuple[str, str]], name: str, value: str) -> bool:
    number = parse_cell_number(value)
    cells = [cell for column, cell in row if column == name] or [cell for _column, cell in row]
    return any(value == cell or (number is not None and number == parse_cell_number(cell)) for cell in cells)


def check_cited_sentence(
    sentence: str, cited: Sequence[int], evidence: Mapping[int, Evidence], *, question: str, today: date, also: str = ""
) -> tuple[tuple[int, ...], SentenceCheck]:
    """Return the verdict of the evidence on the sentence, and the numbers of its supporting pieces.

    These are the cited pieces, or another that says it. A sentence without citations is compared with the piece that
    shares most of its words. Empty evidence settles nothing.
    """
    numbers = tuple(number for number in cited if number in evidence)
    ranked = sorted(evidence, key=lambda number: -compute_term_coverage(sentence, evidence[number].text))
    found = {
        number: check_sentence(sentence, evidence[number], question=question, today=today, also=also)
        for number in dict.fromkeys((*numbers, *ranked[:OTHERS]))
    }
    own = [found[number] for number in numbers]
    if any(item.verdict in SAID for item in own):
        return numbers, min(own, key=_rank_verdict)
    if len(numbers) > 1:  # a sentence may combine several pieces
        together = Evidence("\n\n".join(evidence[number].text for number in numbers))
        if (joint := check_sentence(sentence, together, question=question, today=today, also=also)).verdict in SAID:
            return numbers, joint
    other = next((number for number in found if found[number].verdict is Verdict.SUPPORTED), None)
    if other is not None:
        return (other,), found[other]
    if own:
        return numbers, max(own, key=_rank_verdict)
    return tuple(ranked[:1]), make_unsettled("cites nothing")


def _rank_verdict(finding: SentenceCheck) -> int:
    return [Verdict.SUPPORTED, Verdict.LIKELY, Verdict.UNSETTLED, Verdict.CONTRADICTED].index(finding.verdict)
