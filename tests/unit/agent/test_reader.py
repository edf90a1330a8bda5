"""The extractive reader with the bundled model: quotes stand in the passage they cite, and weak evidence is refused."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.answerability.classifier import SIGNALS, AbstainReason, judge, signals
from agent.extractive.candidates import MEASURES, shares_of
from agent.extractive.passages import Passage
from agent.extractive.reader import read
from knowledge.embedding.base import Embedder
from knowledge.retrieval.term_weights import matter_weights
from knowledge.text.terms import term_id, terms
from tests.embedders import bundled

LEAVE = Passage(
    "Annual leave follows the grade of the employee.\n\n| Grade | Days of leave |\n|---|---|\n| A | 15 |\n| B | 18 |\n\n"
    "Unused leave expires in March. Ask your manager before you book a journey.",
    title="Staff handbook",
    dense=0.86,
)
DEPLOYMENT = Passage(
    "Deployment 可确保在更新时仅关闭一定数量的 Pod。默认情况下，它确保至少所需 Pod 的 75% 处于运行状态（最大不可用比例为 25%）。"
    "控制器会创建新的 ReplicaSet。",
    title="Deployments",
    heading_path=("更新 Deployment",),
    dense=0.85,
)
TRAVEL = Passage("Flights are booked by the travel desk. Hotels may cost 120 euros.", title="Travel", dense=0.78)


HOLIDAYS = Passage(
    "每位员工每年享有 2 天带薪公益假。工龄满五年后可申请无薪长假。",
    title="员工手册",
    dense=0.88,
)
WINS = Passage(
    "| Date | Customer | Product |\n|---|---|---|\n| 2026-07-08 | Fjordline Reefer AS | Tracker |\n| 2026-09-02 | Jinze | Dock |",
    title="customer-wins",
    dense=0.85,
)
FIGURES = Passage(
    "In the third quarter of 2026 the median error was 6.5 minutes.",
    title="Tracking",
    dense=0.82,
)


PRICES = Passage(
    "| Order number | CNY |\n|---|---|\n| KG-200-E | 3,280 |\n| KG-400-L | 5,980 |\n| KG-400-N | 7,480 |",
    title="Price list 2026",
    dense=0.82,
)
MINUTES = Passage(
    "KEELGATE KG-600: Parts cost CNY 4,150 at 1,000 pieces. 140 KG-400 gateways are planned, with a budget of CNY 840,000.",
    title="Minutes",
    dense=0.85,
)


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
    assert quotes[0].text == "Hotels may cost 120 euros.", "not in the order of the passage"
    assert len(read("leave and travel", [LEAVE, TRAVEL], embedder).quotes) == 3


def test_what_is_nearly_as_likely_and_stands_before_it_is_shown_before_it(
    embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Either may be the answer, and a passage reads from its beginning."""
    rules = Passage("杭州员工的试用期为三个月。鹿特丹新员工的试用期为两个月。", title="Rules", dense=0.85)

    def shown() -> list[str]:
        return [quote.text[:2] for quote in read("新员工的试用期是多久？", [rules], embedder).quotes]

    assert shown() == ["杭州", "鹿特"]
    monkeypatch.setattr("agent.extractive.reader.NEARLY_AS_LIKELY", 1.1)
    assert shown() == ["鹿特", "杭州"]


def test_what_is_beside_the_point_is_not_shown(embedder: Embedder, monkeypatch: pytest.MonkeyPatch) -> None:
    question = "Does unused leave expire?"
    kept = read(question, [LEAVE, TRAVEL], embedder).quotes
    assert kept[0].text == "Unused leave expires in March."
    assert len(kept) < 3
    monkeypatch.setattr("agent.extractive.reader.LEAST", 0.0)
    monkeypatch.setattr("agent.extractive.reader.SAYS_AS_MUCH", 0.0)
    assert len(read(question, [LEAVE, TRAVEL], embedder).quotes) == 3


def test_a_sentence_takes_the_heading_inside_its_passage_for_granted(embedder: Embedder) -> None:
    text = "## 4. Rollback\n\nIt is done within 15 minutes.\n\n## 5. Approval\n\nIt is done within 30 minutes."
    rules = Passage(text, title="Rules", dense=0.85)
    for question, expected in (("How long may a rollback take?", "15"), ("How long may an approval take?", "30")):
        reading = read(question, [rules], embedder)
        assert expected in reading.quotes[0].text, question
        assert not any(quote.text.startswith(("4.", "5.")) for quote in reading.quotes), "a heading answers nothing"


def test_words_that_name_a_section_are_answered_by_it(embedder: Embedder) -> None:
    text = (
        "## 4.1 年休假\n\n员工第一年享有 10 天年休假。\n\n## 4.2 病假\n\n每个自然年度前 10 个工作日的病假工资为 100%。"
    )
    leave = Passage(text, title="员工手册", heading_path=("第四章 假期",), dense=0.84)
    known = shares_of("年，假")  # no document says 年假
    assert "员工第一年享有 10 天年休假。" in read("年假", [leave], embedder, shares=known).quotes[0].text


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
    assert judge(reading).doubt is AbstainReason.NO_EVIDENCE
    with pytest.raises(ValueError, match="nothing to judge"):
        signals(reading)


def test_what_the_passages_say_is_confirmed_and_what_they_do_not_is_refused(embedder: Embedder) -> None:
    question = "When does unused annual leave expire?"
    leave = replace(LEAVE, title="Annual leave")
    confirmed = judge(read(question, [leave, TRAVEL], embedder, shares=shares_of(question)))
    other = replace(LEAVE, text="Grades are agreed with the works council. Ask your manager first.", dense=0.79)
    refused = judge(read(question, [other, TRAVEL], embedder, shares=shares_of(question)))
    assert (confirmed.ok, confirmed.doubt) == (True, None)
    assert not refused.ok
    assert refused.doubt is not None
    assert 0 <= refused.score < confirmed.score <= 1


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(question=st.text(max_size=60), text=st.text(max_size=120))
def test_no_text_raises(question: str, text: str) -> None:
    reading = read(question, [Passage(text)], bundled())
    assert 0 <= judge(reading).score <= 1
    if reading.best is not None:
        assert len(signals(reading)) == len(SIGNALS)


def test_what_stands_on_every_page_and_bare_headings_are_not_quoted(embedder: Embedder) -> None:
    text = (
        "# MINUTES OF THE BOARD\n\nThe board meets in Delft.\n\n## 6. Next meeting\n\nThe next board meeting is on 16 October 2026.\n\n"
        "Minutes of the Board of 17 July 2026 · Strictly confidential 1\n\nPage 3 of 4"
    )
    minutes = Passage(text, title="Minutes of the Board of 17 July 2026", dense=0.85)
    texts = [quote.text for quote in read("next board meeting minutes", [minutes], embedder).quotes]
    assert len(texts) == 2
    assert all(
        text.endswith(("The next board meeting is on 16 October 2026.", "The board meets in Delft.")) for text in texts
    )


def test_a_sentence_of_another_matter_is_not_appended(embedder: Embedder, monkeypatch: pytest.MonkeyPatch) -> None:
    leave = Passage(
        "Annual leave in Rotterdam is 27 days. Annual leave is requested two weeks before.\n\nThe canteen opens at noon.",
        title="Handbook",
        dense=0.86,
    )
    question = "What is the annual leave in Rotterdam?"
    assert "canteen" not in " ".join(quote.text for quote in read(question, [leave], embedder).quotes)
    monkeypatch.setattr("agent.extractive.reader.SAYS_AS_MUCH", 0.0)
    monkeypatch.setattr("agent.extractive.reader.LEAST", 0.0)
    assert "canteen" in " ".join(quote.text for quote in read(question, [leave], embedder).quotes)


def test_an_answer_is_judged_by_what_the_matter_weighs(embedder: Embedder) -> None:
    question = "May I myself fly?"
    light, heavy = (
        {term: share if term in shares_of("myself") else 1 - share for term in shares_of(question)}
        for share in (0.1, 0.9)
    )
    everyday, plain = (read(question, [TRAVEL], embedder, matter=matter) for matter in (light, heavy))
    assert everyday.quotes == plain.quotes, "the matter does not choose"
    place = SIGNALS.index("gap_in_sentence")
    assert signals(everyday)[place] < signals(plain)[place]


def test_what_holds_by_default_is_told_before_what_only_speaks_of_it(
    embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.extractive.reader.LEAST", 0.0)
    text = (
        "RollingUpdate is the default strategy of an update. A rolling update strategy of the update may be slow.\n\n"
        "By default 25% of the Pods may be missing."
    )
    passage = Passage(text, title="Pods")
    quotes = read("What is the default rolling update strategy?", [passage], embedder, sentences=2).quotes
    assert [("efault" in quote.text) for quote in quotes] == [True, True]
    quotes = read("What is the rolling update strategy?", [passage], embedder, sentences=2).quotes
    assert "A rolling update strategy of the update may be slow." in [quote.text for quote in quotes]


@pytest.mark.parametrize("question", ["How much does a KG-400 cost?", "KG-400 多少钱"])
def test_a_code_without_its_suffix_is_answered_with_the_rows_of_its_variants(embedder: Embedder, question: str) -> None:
    everyday = matter_weights(question, dict.fromkeys(map(term_id, terms(question)), 3), 700)
    reading = read(question, [MINUTES, PRICES], embedder, matter=everyday)
    assert judge(reading).ok
    assert [quote.text for quote in reading.quotes] == [
        "Order number: KG-400-L; CNY: 5,980",
        "Order number: KG-400-N; CNY: 7,480",
    ], "nor what else mentions the code, like a budget"


def test_a_further_sentence_gives_the_amount_asked_for_where_the_first_does(embedder: Embedder) -> None:
    passage = Passage("The import takes 40 minutes. The import takes place in Rotterdam.", title="Import")
    kept = read("How many minutes does the import take?", [passage], embedder).quotes
    assert [quote.text for quote in kept] == ["The import takes 40 minutes."]
    assert len(read("What is said of the import?", [passage], embedder).quotes) == 2


def test_what_stands_under_another_heading_is_no_context_of_a_row(embedder: Embedder) -> None:
    duty = Passage(
        "轮值安排\n\n每班一周，于当地时间周一 10:00 交接。新工程师在试用期结束并跟班两周之后加入轮值。\n\n响应时间\n\n"
        "| 级别 | 确认时限 | 通报频率 |\n| --- | --- | --- |\n| SEV1 | 10 分钟 | 每 30 分钟 |\n| SEV2 | 20 分钟 | 每 60 分钟 |",
        title="值班手册",
        dense=0.82,
        coverage=0.59,
    )
    handbook = Passage(
        "2.2 试用期\n\n杭州员工的试用期为三个月。鹿特丹员工的试用期为一个月。试用期不得延长。",
        title="员工手册",
        heading_path=("第二章 入职与试用期",),
        dense=0.87,
        coverage=0.7,
    )
    reading = read("试用期是多久？", [handbook, duty], embedder)
    assert not any("SEV" in quote.text for quote in reading.quotes)
    rows = [each for each in reading.measured if each.sentence.kind == "row"]
    assert {float(each.measures[MEASURES.index("in_context")]) for each in rows} == {0.0}
    assert reading.quotes[0].text == "杭州员工的试用期为三个月。"
