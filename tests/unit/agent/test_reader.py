"""The extractive reader with the bundled model: quotes stand in the passage they cite, and weak evidence is refused."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.extractive.candidates import shares_of
from agent.extractive.passages import Passage
from agent.extractive.reader import read
from agent.grounding import SIGNALS, Doubt, judge, signals
from knowledge.embedding.base import Embedder
from tests.embedders import bundled

LEAVE = Passage(
    "leave",
    "Annual leave follows the grade of the employee.\n\n| Grade | Days of leave |\n|---|---|\n| A | 15 |\n| B | 18 |\n\n"
    "Unused leave expires in March. Ask your manager before you book a journey.",
    title="Staff handbook",
    dense=0.86,
    lexical=0.9,
)
DEPLOYMENT = Passage(
    "deployment",
    "Deployment 可确保在更新时仅关闭一定数量的 Pod。默认情况下，它确保至少所需 Pod 的 75% 处于运行状态（最大不可用比例为 25%）。"
    "控制器会创建新的 ReplicaSet。",
    title="Deployments",
    heading_path=("更新 Deployment",),
    dense=0.85,
    lexical=0.5,
)
TRAVEL = Passage(
    "travel", "Flights are booked by the travel desk. Hotels may cost 120 euros.", title="Travel", dense=0.78
)


FIGURES = Passage(
    "figures",
    "In the third quarter of 2026 the median error was 6.5 minutes.",
    title="Tracking",
    dense=0.82,
    lexical=0.9,
)
ON_CALL = Passage(
    "on-call", "Two engineers are on call in Rotterdam at any time.", title="On-call guide", dense=0.88, lexical=1.0
)


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return bundled()


def test_the_quote_is_cut_from_the_passage_it_names(embedder: Embedder) -> None:
    passages = [DEPLOYMENT, TRAVEL]
    reading = read("Deployment 默认最大不可用比例是多少？", passages, embedder)
    assert any("25%" in quote.text and quote.passage == 0 for quote in reading.quotes)
    for quote in reading.quotes:
        assert passages[quote.passage].text[quote.start : quote.end] == quote.text


def test_a_row_of_a_table_answers_with_its_header(embedder: Embedder) -> None:
    reading = read("How many days of leave has grade B?", [LEAVE, TRAVEL], embedder, sentences=1)
    [quote] = reading.quotes
    assert quote.text == "Grade: B; Days of leave: 18"
    assert LEAVE.text[quote.start : quote.end] == "| B | 18 |"


def test_at_most_three_sentences_and_the_one_that_answers_first(embedder: Embedder) -> None:
    quotes = read("What may hotels cost?", [TRAVEL, LEAVE], embedder).quotes
    assert [quote.text for quote in quotes] == ["Hotels may cost 120 euros.", "Flights are booked by the travel desk."]
    assert quotes[0].start > quotes[1].start, "not in the order of the passage"
    assert len(read("leave and travel", [LEAVE, TRAVEL], embedder).quotes) == 3


def test_what_is_beside_the_point_is_not_shown(embedder: Embedder, monkeypatch: pytest.MonkeyPatch) -> None:
    question = "Does unused leave expire?"
    kept = read(question, [LEAVE, TRAVEL], embedder).quotes
    assert kept[0].text == "Unused leave expires in March."
    assert len(kept) < 3
    monkeypatch.setattr("agent.extractive.reader.LEAST", 0.0)
    assert len(read(question, [LEAVE, TRAVEL], embedder).quotes) == 3


def test_a_sentence_takes_the_heading_inside_its_passage_for_granted(embedder: Embedder) -> None:
    text = "4. Rollback\n\nIt is done within 15 minutes.\n\n5. Approval\n\nIt is done within 30 minutes."
    rules = Passage("rules", text, title="Rules", dense=0.85, lexical=0.5)
    for question, expected in (("How long may a rollback take?", "15"), ("How long may an approval take?", "30")):
        reading = read(question, [rules], embedder)
        assert expected in reading.quotes[0].text, question
        assert not any(quote.text.startswith(("4.", "5.")) for quote in reading.quotes), "a heading answers nothing"


def test_a_question_for_one_fact_ends_with_it(embedder: Embedder) -> None:
    quotes = read("When does unused leave expire?", [LEAVE, TRAVEL], embedder).quotes
    assert [quote.text for quote in quotes] == ["Unused leave expires in March."]


def test_support_is_a_probability(embedder: Embedder) -> None:
    quotes = read("When does unused leave expire?", [LEAVE, TRAVEL], embedder).quotes
    assert 0 < sum(quote.support for quote in quotes) <= 1.0001
    assert max(quotes, key=lambda quote: quote.support).text == "Unused leave expires in March."


@pytest.mark.parametrize("passages", [[], [replace(LEAVE, text="")], [replace(LEAVE, text="# Only a heading")]])
def test_without_a_sentence_there_is_no_evidence(embedder: Embedder, passages: list[Passage]) -> None:
    reading = read("Anything?", passages, embedder)
    assert reading.quotes == ()
    assert judge(reading).doubt is Doubt.NO_EVIDENCE
    with pytest.raises(ValueError, match="nothing to judge"):
        signals(reading)


def test_what_the_passages_say_is_confirmed_and_what_they_do_not_is_refused(embedder: Embedder) -> None:
    question = "When does unused annual leave expire?"
    confirmed = judge(read(question, [LEAVE, TRAVEL], embedder, shares=shares_of(question)))
    other = replace(
        LEAVE, text="Grades are agreed with the works council. Ask your manager first.", dense=0.79, lexical=0.1
    )
    refused = judge(read(question, [other, TRAVEL], embedder, shares=shares_of(question)))
    assert (confirmed.ok, confirmed.doubt) == (True, None)
    assert not refused.ok
    assert refused.doubt is not None
    assert 0 <= refused.score < confirmed.score <= 1


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(question=st.text(max_size=60), text=st.text(max_size=120))
def test_no_text_raises(question: str, text: str) -> None:
    reading = read(question, [Passage("one", text)], bundled())
    assert 0 <= judge(reading).score <= 1
    if reading.best is not None:
        assert len(signals(reading)) == len(SIGNALS)


def test_an_answer_that_verification_doubts_is_withheld_as_turned(
    embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading = read("Who books the flights?", [TRAVEL, LEAVE], embedder)
    monkeypatch.setattr("agent.grounding.THRESHOLD", 0.0)
    assert judge(reading).ok
    monkeypatch.setattr("agent.grounding.VERIFIED", 1.0)
    assert judge(reading).doubt is Doubt.TURNED
    chinese = read("Deployment 默认最大不可用比例是多少？", [DEPLOYMENT, TRAVEL], embedder)
    assert judge(chinese).ok, "no set tells a model for Chinese what is turned"


def test_a_denial_in_the_question_alone_is_held_against_the_answer(embedder: Embedder) -> None:
    plain = judge(read("Who books the flights?", [TRAVEL], embedder))
    denied = judge(read("Who never books the flights?", [TRAVEL], embedder))
    assert denied.verified < plain.verified / 2


def test_a_sentence_of_the_same_quarter_does_not_answer_for_another_matter(
    embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.grounding.THRESHOLD", 0.0)
    monkeypatch.setattr("agent.grounding.VERIFIED", 0.0)
    monkeypatch.setattr("agent.grounding.SURE_OF_MATTER", 1.0)
    question = "What was the cash position at the end of the third quarter of 2026?"
    reading = read(question, [FIGURES], embedder, matter=shares_of("cash position third quarter"))
    assert judge(reading).doubt is Doubt.ANOTHER_MATTER
    same = read("What was the median error in the third quarter of 2026?", [FIGURES], embedder)
    assert judge(same).ok
    without_a_time = read("When are flights booked by the travel desk?", [TRAVEL], embedder)
    assert judge(without_a_time).doubt is Doubt.ANOTHER_MATTER
    monkeypatch.setattr("agent.grounding.SURE_OF_MATTER", 0.0)
    assert judge(reading).ok, "verification that is sure of it is believed"


def test_who_does_something_these_days_is_not_told_by_a_rule(
    embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.grounding.THRESHOLD", 0.0)
    assert judge(read("Who is on call in Rotterdam?", [ON_CALL], embedder)).ok
    assert judge(read("Who is on call in Rotterdam this week?", [ON_CALL], embedder)).doubt is Doubt.OTHER_DAYS


def test_an_answer_is_judged_by_what_the_matter_weighs(embedder: Embedder) -> None:
    question = "May I myself fly?"
    light, heavy = (
        {term: share if term in shares_of("myself") else 1 - share for term in shares_of(question)}
        for share in (0.1, 0.9)
    )
    everyday, plain = (read(question, [TRAVEL], embedder, matter=matter) for matter in (light, heavy))
    assert everyday.quotes == plain.quotes, "the matter does not choose"
    place = SIGNALS.index("gap")
    assert signals(everyday)[place] < signals(plain)[place]


def test_what_holds_by_default_is_told_before_what_only_speaks_of_it(
    embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.extractive.reader.LEAST", 0.0)
    text = (
        "RollingUpdate is the default strategy of an update. A rolling update strategy of the update may be slow.\n\n"
        "By default 25% of the Pods may be missing."
    )
    passage = Passage("d", text, title="Pods")
    quotes = read("What is the default rolling update strategy?", [passage], embedder, sentences=2).quotes
    assert [("efault" in quote.text) for quote in quotes] == [True, True]
    quotes = read("What is the rolling update strategy?", [passage], embedder, sentences=2).quotes
    assert "A rolling update strategy of the update may be slow." in [quote.text for quote in quotes]
