"""What a question asks for, in both languages."""

import pytest

from agent.extractive.questions import AnswerKind, analyse, has_answer_of


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Who signed the treaty?", AnswerKind.PERSON),
        ("王欣逸的父亲是谁？", AnswerKind.PERSON),
        ("When were the Normans in Normandy?", AnswerKind.TIME),
        ("金华县开始在什么时期？", AnswerKind.TIME),
        ("How many days of leave are there?", AnswerKind.NUMBER),
        ("呼家楼站有几个出入口？", AnswerKind.NUMBER),
        ("In what country is Normandy located?", AnswerKind.PLACE),
        ("大沙东站在哪里？", AnswerKind.PLACE),
        ("Why did it fail?", AnswerKind.REASON),
        ("为什么次磷酸受到严格管制？", AnswerKind.REASON),
        ("新進員工的試用期是幾個月？", AnswerKind.NUMBER),
        ("公司的總經理是誰？", AnswerKind.PERSON),
        ("虹彩吸蜜鹦鹉又叫什么？", AnswerKind.NAME),
        ("rolling update strategy", AnswerKind.ANY),
        ("Who do I tell when I am ill?", AnswerKind.PERSON),
        ("What is paid when travelling?", AnswerKind.ANY),
        ("What happens to a colleague who leaves the town where the desk was?", AnswerKind.ANY),
        ("The laptop is gone, who must know?", AnswerKind.PERSON),
        ("By whom and when was it founded?", AnswerKind.TIME),
        ("The salary is paid when?", AnswerKind.TIME),
        ("", AnswerKind.ANY),
    ],
)
def test_the_interrogative_tells_what_is_expected(question: str, kind: AnswerKind) -> None:
    assert analyse(question).kind is kind


@pytest.mark.parametrize(
    ("question", "givens"),
    [
        ("How many vacation days do I get, and what if I'm ill in Hangzhou?", {"hangzhou"}),
        ("What did I’ve to sign in World War I?", {"world war i"}),
        ("Who did Rollo sign the treaty of Saint-Clair-sur-Epte with?", {"rollo", "saint-clair-sur-epte"}),
        ("When did Dyrrachium fall to the Normans in 1082?", {"dyrrachium", "normans", "1082"}),
        ("Kubernetes 中 Deployment 的默认策略是什么？", {"kubernetes", "deployment"}),
        ("《鳄鱼泪》主要内容是什么？", {"鳄鱼泪"}),
        ("what is it", set()),
    ],
)
def test_names_and_numbers_of_the_question_are_given(question: str, givens: set[str]) -> None:
    assert set(analyse(question).givens) == givens


@pytest.mark.parametrize(
    ("question", "sentence", "answers"),
    [
        ("When did it open?", "It opened in May 1981.", True),
        ("When did it open?", "It opened late.", False),
        ("How many people work in 2019?", "In 2019 there were many.", False),  # the question's own number is no answer
        ("How many people work in 2019?", "In 2019 there were 40.", True),
        ("When did we lose it?", "It is replaced after four years.", False),  # no point in time
        ("When is it replaced?", "It is replaced after four years.", True),
        ("为什么失败？", "由于天气，计划取消了。", True),
        ("为什么失败？", "计划取消了。", False),
        ("What is a Pod?", "Anything may answer this.", True),
    ],
)
def test_an_answer_is_of_the_expected_kind(question: str, sentence: str, answers: bool) -> None:
    assert has_answer_of(analyse(question), sentence) is answers
