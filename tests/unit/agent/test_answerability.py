"""When a sentence that resembles the question is no answer: each rule alone, whatever the model of the signals says."""

from dataclasses import replace

import pytest

from agent.answerability import classifier as answerability
from agent.answerability.classifier import MODELS, SIGNALS, AbstainReason, Model, judge
from agent.extractive.passages import Passage
from agent.extractive.reader import read
from knowledge.embedding.base import Embedder

TRAVEL = Passage(
    "Flights are booked by the travel desk. The travel desk speaks the languages English and Dutch.",
    title="Travel policy",
    dense=0.85,
    lexical=0.9,
)
CLAUSE = Passage("员工离职后每月可获得平均工资 30% 的补偿。", title="员工手册", dense=0.88, lexical=0.9)
PRICES = Passage(
    "| Item | Price |\n|---|---|\n| KG-400 | 5,980 yuan |\n| KG-500 | 7,480 yuan |\n",
    title="Price list",
    dense=0.8,
    lexical=0.6,
)
GATEWAYS = Passage("The KG-400 was shown on 4 May. Parts of it cost 30 euros.", title="Gateways", dense=0.85)

ON_CALL = Passage("Two engineers are on call in Rotterdam at any time.", title="On-call guide", dense=0.88, lexical=1.0)


@pytest.fixture
def credulous(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the signals are, they are enough."""
    sure = Model(0.0, (0.0,) * len(SIGNALS), 0.0)
    monkeypatch.setattr(answerability, "MODELS", dict.fromkeys(MODELS, sure))


def doubt_of(question: str, passage: Passage, embedder: Embedder) -> AbstainReason | None:
    return judge(read(question, [passage], embedder)).doubt


@pytest.mark.usefixtures("credulous")
@pytest.mark.parametrize(
    ("question", "other"),
    [
        ("Does the travel desk speak Dutch?", "Does the travel desk speak Polish?"),
        ("Who books the flights?", "Who books the flights of 2019?"),
        ("Which languages does the travel desk speak?", "Which languages does the travel desk in Warsaw speak?"),
    ],
)
def test_what_a_question_names_must_be_said(embedder: Embedder, question: str, other: str) -> None:
    assert doubt_of(question, TRAVEL, embedder) is None
    assert doubt_of(other, TRAVEL, embedder) is AbstainReason.OTHER_NAMES


@pytest.mark.usefixtures("credulous")
def test_another_code_is_another_thing(embedder: Embedder) -> None:
    assert doubt_of("When was the KG-400 shown?", GATEWAYS, embedder) is None
    assert doubt_of("When was the KG-500 shown?", GATEWAYS, embedder) is AbstainReason.OTHER_NAMES


@pytest.mark.usefixtures("credulous")
def test_an_amount_of_another_kind_is_no_answer(embedder: Embedder) -> None:
    assert doubt_of("员工平均工资是多少", CLAUSE, embedder) is AbstainReason.OTHER_NAMES
    assert doubt_of("员工平均工资是多少", replace(CLAUSE, text="员工的平均工资为每月 9,500 元。"), embedder) is None


@pytest.mark.usefixtures("credulous")
def test_who_does_something_these_days_is_not_told_by_a_rule(embedder: Embedder) -> None:
    assert doubt_of("Who is on call in Rotterdam?", ON_CALL, embedder) is None
    assert doubt_of("Who is on call in Rotterdam this week?", ON_CALL, embedder) is AbstainReason.OTHER_DAYS


def test_a_denial_in_the_question_alone_is_held_against_the_answer(embedder: Embedder) -> None:
    plain, denied = (
        judge(read(question, [TRAVEL], embedder)).score
        for question in ("Who books the flights?", "Who never books the flights?")
    )
    assert denied < plain / 2


def test_a_row_of_the_code_asked_for_is_confirmed_where_it_says_all_that_is_asked(embedder: Embedder) -> None:
    assert doubt_of("What is the price of a KG-400?", PRICES, embedder) is None
    assert doubt_of("How heavy is a KG-400?", PRICES, embedder) is not None


@pytest.mark.parametrize("script", ["zh", "other"])
def test_no_signal_of_evidence_lowers_the_verdict_and_none_against_it_raises_it(script: str) -> None:
    weights = dict(zip(SIGNALS, MODELS[script].weights, strict=True))
    against = {"gap_in_sentence", "lacks_kind", "negation_unsaid"}
    assert all(weight <= 0 if name in against else weight >= 0 for name, weight in weights.items())
    assert 0 < MODELS[script].threshold < 1


@pytest.mark.usefixtures("credulous")
def test_the_other_kind_of_what_is_asked_about_is_no_answer(embedder: Embedder) -> None:
    auditors = Passage("The internal auditor is Sofia Jansen.", title="Auditors", dense=0.88, lexical=1.0)
    assert doubt_of("Who is the internal auditor?", auditors, embedder) is None
    assert doubt_of("Who is the external auditor?", auditors, embedder) is AbstainReason.OTHER_NAMES


def test_a_cross_encoder_decides_in_the_place_of_the_fitted_model(embedder: Embedder) -> None:
    question = "Which languages does the travel desk speak?"
    for relevance, is_answer in ((0.9, True), (0.1, False)):
        verdict = judge(read(question, [replace(TRAVEL, relevance=relevance)], embedder))
        assert (verdict.ok, verdict.score) == (is_answer, relevance)
    named = judge(
        read("Which languages does the travel desk in Warsaw speak?", [replace(TRAVEL, relevance=0.9)], embedder)
    )
    assert named.doubt is AbstainReason.OTHER_NAMES
