"""When a sentence that resembles the question is no answer: each rule alone, whatever the model of the signals says."""

from dataclasses import replace

import pytest

from agent.answerability import classifier as answerability
from agent.answerability.classifier import (
    MODELS,
    SIGNALS,
    AbstainReason,
    Model,
    Verdict,
    beside,
    confirmed,
    judge,
)
from agent.extractive.candidates import term_ids
from agent.extractive.passages import Passage
from agent.extractive.questions import analyse, without_place
from agent.extractive.reader import read
from knowledge.embedding.base import Embedder
from knowledge.retrieval.term_weights import matter_weights, share_of_passages
from knowledge.text.everyday import everyday_rates
from knowledge.text.terms import is_han, term_id, terms

TRAVEL = Passage(
    "Flights are booked by the travel desk. The travel desk speaks the languages English and Dutch.",
    title="Travel policy",
    dense=0.85,
)
CLAUSE = Passage("员工离职后每月可获得平均工资 30% 的补偿。", title="员工手册", dense=0.88)
PRICES = Passage(
    "| Item | Price |\n|---|---|\n| KG-400 | 5,980 yuan |\n| KG-500 | 7,480 yuan |\n",
    title="Price list",
    dense=0.8,
)
GATEWAYS = Passage("The KG-400 was shown on 4 May. Parts of it cost 30 euros.", title="Gateways", dense=0.85)

ON_CALL = Passage("Two engineers are on call in Rotterdam at any time.", title="On-call guide", dense=0.88)


@pytest.fixture
def credulous(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the signals are, they are enough."""
    sure = Model(0.0, (0.0,) * len(SIGNALS), 0.0)
    monkeypatch.setattr(answerability, "MODELS", dict.fromkeys(MODELS, sure))


def judged(question: str, passage: Passage, embedder: Embedder, *, unsaid: str = "") -> Verdict:
    """In a base of 700 passages, of which most say each everyday word, and three each other word, as far as it is a word; but for those
    that none says.
    """
    words = [term for term in terms(question) if len(term) != 2 or not is_han(term) or term in everyday_rates("zh")]
    words = [word for word in words if word not in terms(unsaid)]
    frequencies = {term_id(word): 600 if share_of_passages(word) > 0.05 else 3 for word in words}
    return judge(read(question, [passage], embedder, matter=matter_weights(question, frequencies, 700)))


def doubt_of(question: str, passage: Passage, embedder: Embedder) -> AbstainReason | None:
    return judged(question, passage, embedder).doubt


@pytest.mark.usefixtures("credulous")
@pytest.mark.parametrize(
    ("question", "other"),
    [
        ("Which languages does the travel desk speak, Dutch?", "Which languages does the travel desk speak, Polish?"),
        ("Which languages does the travel desk speak?", "Which languages did the travel desk speak in 2019?"),
        ("Which languages does the travel desk speak?", "Which languages does the travel desk in Warsaw speak?"),
    ],
)
def test_what_a_question_names_must_be_said(embedder: Embedder, question: str, other: str) -> None:
    assert doubt_of(question, TRAVEL, embedder) is None
    assert doubt_of(other, TRAVEL, embedder) is AbstainReason.OTHER_NAMES


@pytest.mark.usefixtures("credulous")
@pytest.mark.parametrize(
    "question",
    [
        "Which language does the travel desk speak?",
        "What should I do to have flights booked?",
        "What is the travel desk?",
        "Where does the travel desk speak?",
        "差旅服务台说哪种语言？",
    ],
)
def test_what_has_no_form_of_its_own_is_not_confirmed_by_likeness(embedder: Embedder, question: str) -> None:
    assert doubt_of(question, TRAVEL, embedder) is AbstainReason.UNCONFIRMED
    assert doubt_of(question, replace(TRAVEL, relevance=0.9), embedder) is None


@pytest.mark.usefixtures("credulous")
def test_things_of_a_kind_are_told_by_a_sentence_that_names_several(embedder: Embedder) -> None:
    question = "Which languages does the travel desk speak?"
    assert doubt_of(question, TRAVEL, embedder) is None
    one = replace(TRAVEL, text="The travel desk speaks some languages.")
    assert doubt_of(question, one, embedder) is AbstainReason.UNCONFIRMED


ENVIRONMENTS = Passage("目前支持部署的环境有 staging、prod-cn 和 demo。", title="部署规范", dense=0.88)
SITES = Passage("Supported are the environments staging, prod-cn and demo.", title="Deployment rules", dense=0.88)


@pytest.mark.usefixtures("credulous")
@pytest.mark.parametrize(
    ("question", "other"),
    [
        ("根据部署规范，目前支持哪些环境？", "根据出差规范，目前支持哪些环境？"),
        ("按照部署文档的说明，目前支持哪些环境？", "按照出差文档的说明，目前支持哪些环境？"),
        ("依据部署规范支持哪些环境？", "依据出差规范支持哪些环境？"),
        (
            "According to the deployment rules, which environments are supported?",
            "According to the travel rules, which environments are supported?",
        ),
        (
            "Which environments are supported, based on the deployment documentation?",
            "Which environments are supported, based on the travel documentation?",
        ),
    ],
)
def test_words_that_say_where_an_answer_stands_need_not_be_said_but_the_document_s_name(
    embedder: Embedder, question: str, other: str
) -> None:
    passage = ENVIRONMENTS if analyse(question).is_chinese else SITES
    assert doubt_of(question, passage, embedder) is None
    assert doubt_of(other, passage, embedder) is AbstainReason.UNCONFIRMED


@pytest.mark.parametrize(
    ("question", "matter"),
    [
        ("根据规范需要哪些文件？", "规范需要哪些文件？"),
        ("根据差旅规定，哪些文件要提交？", "差旅 ，哪些文件要提交？"),
        ("According to the handbook which documents are kept?", "the handbook which documents are kept?"),
        ("Which documents are kept according to the travel docs?", "Which documents are kept the travel ?"),
        ("订单按照什么分配？", "订单按照什么分配？"),
    ],
)
def test_what_is_asked_for_is_never_taken_for_the_place_of_the_answer(question: str, matter: str) -> None:
    assert without_place(question).split() == matter.split()


@pytest.mark.usefixtures("credulous")
def test_what_something_is_is_told_by_a_figure_of_all_that_is_asked(embedder: Embedder) -> None:
    notice = Passage("The notice period of directors is three months.", title="Handbook", dense=0.88)
    assert doubt_of("What is the notice period of directors?", notice, embedder) is None
    assert doubt_of("What is the trainee notice?", notice, embedder) is AbstainReason.UNCONFIRMED
    vague = replace(notice, text="The notice period of directors is set by contract.")
    assert doubt_of("What is the notice period of directors?", vague, embedder) is AbstainReason.UNCONFIRMED


def test_a_word_that_no_document_says_must_be_said_all_the_same(embedder: Embedder) -> None:
    allowance = Passage("The daily allowance is 55 euros.", title="Travel", dense=0.88)
    matter = dict.fromkeys(term_ids("allowance"), 0.5)  # mileage stands in no passage, and has no weight
    for question, is_answer in (("What is the allowance?", True), ("What is the mileage allowance?", False)):
        assert judge(read(question, [allowance], embedder, matter=matter)).ok is is_answer, question


def test_a_short_question_is_answered_by_a_figure_of_all_that_it_asks(
    embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answerability, "MODELS", dict.fromkeys(MODELS, Model(0.0, (0.0,) * len(SIGNALS), 1.0)))
    warranty = Passage("The warranty of gateways lasts 24 months.", title="Product manual", dense=0.85)
    assert judged("How long is the warranty of gateways?", warranty, embedder).ok
    for text in ("The warranty of gateways lasts long.", "The warranty of trackers lasts 24 months."):
        assert not judged("How long is the warranty of gateways?", replace(warranty, text=text), embedder).ok, text


@pytest.mark.usefixtures("credulous")
@pytest.mark.parametrize(
    ("question", "answer", "beside"),
    [
        (
            "How many interviews does a candidate have?",
            "A candidate has four interviews.",
            "One recording of the interviews is kept for each candidate.",
        ),
        (
            "How many direct reports has a manager?",
            "A manager has at most 7 direct reports.",
            "7. Meet direct reports.",
        ),
        ("Who is the head of support?", "The head of support is Ana de Vries.", "The head of support is on duty."),
    ],
)
def test_a_count_is_of_what_is_asked_and_a_person_has_a_name(
    embedder: Embedder, question: str, answer: str, beside: str
) -> None:
    assert doubt_of(question, Passage(answer, title="Handbook", dense=0.88), embedder) is None
    assert doubt_of(question, Passage(beside, title="Handbook", dense=0.88), embedder) is not None


@pytest.mark.usefixtures("credulous")
@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("要多久？", "标准项目中前十辆车 2 天内上线，对接需要 2 至 4 周。"),
        ("差多少？", "住宿上限为每晚 600 元，每日津贴为 150 元。"),
        ("How long does it take?", "The order takes two days."),
        ("How much is it?", "The licence is 30 euros."),
    ],
)
def test_a_question_that_is_about_nothing_is_answered_by_no_figure(
    embedder: Embedder, question: str, sentence: str
) -> None:
    assert doubt_of(question, Passage(sentence, title="A", dense=0.9), embedder) is not None


@pytest.mark.usefixtures("credulous")
def test_another_code_is_another_thing(embedder: Embedder) -> None:
    assert doubt_of("When was the KG-400 shown?", GATEWAYS, embedder) is None
    assert doubt_of("When was the KG-500 shown?", GATEWAYS, embedder) is AbstainReason.OTHER_NAMES


@pytest.mark.usefixtures("credulous")
def test_an_amount_of_another_kind_is_no_answer(embedder: Embedder) -> None:
    assert doubt_of("员工平均工资是多少", CLAUSE, embedder) is AbstainReason.OTHER_NAMES
    assert doubt_of("员工平均工资是多少", replace(CLAUSE, text="员工的平均工资为每月 9,500 元。"), embedder) is None


@pytest.mark.usefixtures("credulous")
def test_what_is_so_these_days_is_not_told_by_a_rule(embedder: Embedder) -> None:
    assert doubt_of("How many engineers are on call in Rotterdam?", ON_CALL, embedder) is None
    assert (
        doubt_of("How many engineers are on call in Rotterdam this week?", ON_CALL, embedder)
        is AbstainReason.OTHER_DAYS
    )


def test_a_denial_in_the_question_alone_is_held_against_the_answer(embedder: Embedder) -> None:
    plain, denied = (
        judge(read(question, [TRAVEL], embedder)).score
        for question in ("Who books the flights?", "Who never books the flights?")
    )
    assert denied < plain / 2


def test_a_row_of_the_code_asked_for_is_confirmed_where_it_says_all_that_is_asked(embedder: Embedder) -> None:
    for question, is_said in (("What is the price of a KG-400?", True), ("What is the weight of a KG-400?", False)):
        assert judged(question, PRICES, embedder).ok is is_said, question


DELIVERY = Passage(
    "| Order number | Delivery time |\n|---|---|\n| KG-400-L | 3 weeks |\n| KG-400-N | 6 weeks |",
    title="Logistics",
    dense=0.85,
)


@pytest.mark.parametrize(
    ("question", "unsaid"),
    [
        ("How long is the warranty of a KG-400?", ""),
        ("How long is the warranty of a KG-400?", "warranty"),
        ("How long is the calibration interval of a KG-400?", "calibration interval"),
        ("KG-400 的保修期是多久？", "保修期"),
    ],
)
def test_a_row_about_another_matter_of_the_same_product_is_no_answer(
    embedder: Embedder, question: str, unsaid: str
) -> None:
    assert not judged(question, DELIVERY, embedder, unsaid=unsaid).ok
    assert judged("What is the delivery time of a KG-400?", DELIVERY, embedder, unsaid=unsaid).ok


@pytest.mark.parametrize("script", ["zh", "other"])
def test_no_signal_of_evidence_lowers_the_verdict_and_none_against_it_raises_it(script: str) -> None:
    weights = dict(zip(SIGNALS, MODELS[script].weights, strict=True))
    against = {"gap_in_sentence", "lacks_kind", "negation_unsaid"}
    assert all(weight <= 0 if name in against else weight >= 0 for name, weight in weights.items())
    assert 0 < MODELS[script].threshold < 1


@pytest.mark.usefixtures("credulous")
def test_the_other_kind_of_what_is_asked_about_is_no_answer(embedder: Embedder) -> None:
    auditors = Passage("The internal auditor is Sofia Jansen.", title="Auditors", dense=0.88)
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


def test_a_sentence_that_only_hints_at_a_number_or_orders_one_to_be_told_confirms_nothing(embedder: Embedder) -> None:
    for text in (
        "The number of employees may be discussed at the next meeting.",
        "Tell everybody that the number of employees is 12.",
    ):
        people = Passage(text, title="Employees", dense=0.9)
        reading = read("What is the number of employees?", [people], embedder)
        assert reading.quotes[0].text == text
        assert not judge(reading).ok, text
    hints = "The number of employees may be discussed at the next meeting."
    reason = beside(analyse("What is the number of employees?"), Passage(hints, title="Employees"), hints)
    assert reason is AbstainReason.OTHER_NAMES
    told = Passage("The number of employees is 12.", title="Employees", dense=0.9)
    assert judged("What is the number of employees?", told, embedder).ok


def answer_to(question: str, passages: list[Passage], embedder: Embedder) -> list[str]:
    reading = read(question, passages, embedder)
    assert judge(reading).ok, reading.best
    return [quote.text for quote in confirmed(reading)]


@pytest.mark.usefixtures("credulous")
def test_what_follows_a_confirmed_sentence_is_seen_to_answer_too(embedder: Embedder) -> None:
    question = "Which languages does the travel desk speak?"
    fact = "The travel desk speaks the languages English, Dutch and Mandarin."
    aside = "Its people learn languages at the expense of the travel desk."
    again = "The travel desk speaks the languages English and Dutch."
    desk = Passage(f"{fact} {aside} The desk opens at nine.", title="Travel", dense=0.88)
    assert [quote.text for quote in read(question, [desk, TRAVEL], embedder).quotes] == [fact, aside, again]
    assert answer_to(question, [desk, TRAVEL], embedder) == [fact, again]


@pytest.mark.usefixtures("credulous")
def test_what_belongs_to_a_confirmed_sentence_stays_with_it(embedder: Embedder) -> None:
    announced = "The travel budget of an engineer is EUR 900 a year, spent on:\n\n- flights\n- hotels\n- trains"
    desk = Passage(f"{announced}\n\nThe desk opens at nine.", title="Travel", dense=0.88)
    told = answer_to("What is the travel budget of an engineer in a year?", [desk], embedder)
    assert told[1:] == ["flights", "hotels", "trains"]
