"""A sentence that stands out among all that were compared is believed with less; none is believed less for not margin out."""

import pytest

from agent.extractive.passages import Passage
from agent.extractive.reader import Reading, read
from agent.grounding import answerability
from agent.grounding.answerability import AbstainReason, judge, margin, threshold_among
from knowledge.embedding.base import Embedder

SITE = Passage(
    "site",
    "网关采用 DIN 导轨或壁挂安装，四周至少留出 50 毫米散热空间。供电线径不小于 1.0 平方毫米，接地电阻小于 4 欧姆。"
    "固件每季度发布一次。保修期为自交付之日起 24 个月。断网时网关在本地缓存 7 天的数据。",
    title="网关产品手册",
    dense=0.87,
    lexical=0.6,
)
RIGHTS = Passage(
    "rights",
    "员工转岗后，原有权限在 5 个工作日内收回。登录会话 12 小时后失效。管理页面无操作 15 分钟后失效。密码至少 14 位，不要求定期更换。",
    title="信息安全制度",
    dense=0.87,
    lexical=0.5,
)
LEAVE = Passage(
    "leave",
    "每位员工每年享有 2 天带薪公益假。员工病假从第二天起须提供医院证明。每天的工作时间为 8 小时。试用期为六个月。",
    title="员工手册",
    dense=0.88,
    lexical=0.7,
)
SMALL = 60  # passages searched


def reading_of(question: str, embedder: Embedder) -> Reading:
    return read(question, [SITE, RIGHTS, LEAVE], embedder, among=SMALL)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("网关装在柜子里，四周要空出多少地方散热？", "50 毫米"),  # no document says 柜子
        ("请病假第一天就得交医院的单子吗？", "第二天"),
    ],
)
def test_everyday_words_are_answered_where_one_sentence_stands_out(
    embedder: Embedder, monkeypatch: pytest.MonkeyPatch, question: str, answer: str
) -> None:
    reading = reading_of(question, embedder)
    assert answer in reading.quotes[0].text
    assert judge(reading).ok
    monkeypatch.setattr(answerability, "STANDS_OUT", 1.0)
    assert judge(reading).doubt is AbstainReason.NOT_COVERED


@pytest.mark.parametrize("question", ["员工搬家可以请几天带薪假？", "我换了组，工资什么时候涨？"])
def test_what_is_not_written_is_refused_all_the_same(embedder: Embedder, question: str) -> None:
    assert not judge(reading_of(question, embedder)).ok


def test_standing_out_tells_nothing_of_a_question_that_is_not_chinese(embedder: Embedder) -> None:
    passage = Passage("d", "Unused leave expires in March. Hotels may cost 120 euros.", title="Handbook")
    reading = read("What may a hotel cost?", [passage], embedder)
    assert reading.best is not None
    assert margin(reading, reading.best) == 0.0


def test_standing_out_only_eases() -> None:
    assert threshold_among(SMALL, above=-0.02) == threshold_among(SMALL)
    assert threshold_among(SMALL, above=0.02) < threshold_among(SMALL)
