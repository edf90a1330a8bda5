"""A chosen sentence is shown with what belongs to it: what its "it" stands for, the other steps, the other rows."""

import re
from dataclasses import replace

import pytest

from agent.extractive.passages import Passage
from agent.extractive.reader import read
from knowledge.embedding.base import Embedder

PUMP = Passage(
    "PUMP MANUAL\n\nThe pump has a green lamp.\n\n3. SERVICE\n\nHold the red button for 5 seconds. Hold it for 30 seconds only on the "
    "advice of the workshop: this restarts the pump in factory state and deletes its settings.\n\n4. REPLACE\n\n"
    "A pump is replaced within two days.",
    title="pump-manual",
    dense=0.87,
)
DISCOUNTS = Passage(
    "审批权限\n\n| 采购金额 | 审批人 |\n| --- | --- |\n| 1 万元以内 | 组长 |\n| 1 万元至 5 万元 | 部门主管 |\n| 5 万元以上 | 总经理 |\n\n"
    "所有采购都要有合同。",
    title="采购审批制度",
    dense=0.88,
)
STOCK = Passage(
    "| Part | Shelf | Pieces |\n|---|---|---|\n"
    "| Bearing | C4 | 40 |\n| Gasket | D1 | 75 |\n| Valve | A9 | 12 |\n| Filter | B2 | 31 |",
    title="Stock list of the workshop",
    dense=0.85,
)
CLOSING = Passage(
    "## Closing the workshop\n\nThe last one to leave does this:\n\n1. Turn off the compressor.\n"
    "2. Lock the solvent cabinet. Leave the key at the gate.\n3. Switch on the alarm of the workshop.\n\nThe alarm is tested in May.",
    title="Workshop rules",
    dense=0.86,
)
NEWS = Passage(
    "New\n\n- Night mode. The screen turns dark at eight.\n- Spare keys. A second key can be ordered for a locker.\n\nThat is all.",
    title="Release notes of the locker",
    dense=0.86,
)
OTHER = Passage("The canteen opens at noon. Soup is free on Fridays.", title="Canteen", dense=0.75)


def shown(question: str, passages: list[Passage], embedder: Embedder) -> list[str]:
    return [quote.text for quote in read(question, passages, embedder).quotes]


def test_a_warning_is_not_shown_without_the_sentence_that_it_goes_on_with(
    embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = shown("how do I restart the pump", [PUMP, OTHER], embedder)
    assert texts[0] == "Hold the red button for 5 seconds."
    assert texts[1].startswith("Hold it for 30")
    monkeypatch.setattr("agent.extractive.context_expansion._REFERS_BACK", re.compile("(?!)"))
    assert shown("how do I restart the pump", [PUMP, OTHER], embedder)[0].startswith("Hold it for 30")


def test_of_a_table_that_is_asked_for_every_row_is_shown(embedder: Embedder, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = ["1 万元以内", "1 万元至 5 万元", "5 万元以上"]
    for question in ("采购审批流程", "采购由谁审批？"):
        texts = shown(question, [DISCOUNTS, OTHER], embedder)
        assert [text.split("; ")[0] for text in texts if text.startswith("采购金额")] == [
            f"采购金额: {row}" for row in rows
        ]
    monkeypatch.setattr("agent.extractive.context_expansion.MOST_PARTS", 2)
    assert len(shown("采购审批流程", [DISCOUNTS, OTHER], embedder)) <= 3, "a long table is not given whole"


def test_of_rows_that_are_steps_of_one_scale_none_is_shown_alone(embedder: Embedder) -> None:
    texts = shown("3 万元的采购谁审批？", [DISCOUNTS, OTHER], embedder)
    assert "采购金额: 1 万元至 5 万元; 审批人: 部门主管" in texts
    assert sum(text.startswith("采购金额") for text in texts) == 3


def test_a_row_that_is_asked_for_by_name_comes_alone_with_its_header(embedder: Embedder) -> None:
    texts = shown("On which shelf is the gasket?", [STOCK, OTHER], embedder)
    assert texts[0] == "Part: Gasket; Shelf: D1; Pieces: 75"
    assert not any("Filter" in text and "Bearing" in text for text in texts)
    assert len(texts) <= 3


def test_who_asks_how_something_is_done_is_given_all_steps(embedder: Embedder) -> None:
    steps = [
        "The last one to leave does this:",
        "1. Turn off the compressor.",
        "2. Lock the solvent cabinet. Leave the key at the gate.",
        "3. Switch on the alarm of the workshop.",
    ]
    assert shown("How do I close the workshop?", [CLOSING, OTHER], embedder)[:4] == steps
    fact = shown("Where is the key of the solvent cabinet left?", [CLOSING, OTHER], embedder)
    assert fact[0] == steps[2], "an item is shown whole"
    assert steps[1] not in fact


def test_steps_that_run_on_in_one_line_are_shown_together(embedder: Embedder) -> None:
    text = "八、领料流程\n\n1 在系统新建领料单。 2 仓库核对数量。 3 领料人签字。\n\n九、盘点\n\n仓库每月盘点一次。"
    texts = shown("领料要走哪几步？", [Passage(text, title="仓库制度", dense=0.86), OTHER], embedder)
    assert texts[:3] == ["1 在系统新建领料单。", "2 仓库核对数量。", "3 领料人签字。"]


def test_a_bold_head_is_not_shown_without_its_text(embedder: Embedder) -> None:
    texts = shown("Which new things are in the release of the locker?", [NEWS, OTHER], embedder)
    assert any(text.endswith("Night mode. The screen turns dark at eight.") for text in texts)
    assert not {"Night mode.", "Spare keys."} & set(texts)


def test_a_short_sentence_is_shown_with_the_heading_that_names_its_subject(
    embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "## 6. Next inspection\n\n4 March 2027 in Delft.\n\n## 7. Remarks\n\nNobody had any remarks on the report that was read out."
    minutes = Passage(text, title="Safety round", dense=0.85)
    assert (
        shown("When is the next inspection?", [minutes, OTHER], embedder)[0]
        == "Next inspection: 4 March 2027 in Delft."
    )
    monkeypatch.setattr("agent.extractive.context_expansion.FRAGMENT", 0)
    assert shown("When is the next inspection?", [minutes, OTHER], embedder)[0] == "4 March 2027 in Delft."


def test_what_belongs_together_stays_within_three_sentences_and_nothing_is_said_twice(embedder: Embedder) -> None:
    quotes = read("how do I restart the pump", [PUMP, replace(PUMP), OTHER], embedder).quotes
    assert len(quotes) <= 3
    spans = [(quote.passage, quote.start) for quote in quotes]
    assert len(spans) == len(set(spans))
    for quote in quotes:
        assert quote.text in (PUMP.text if quote.passage < 2 else OTHER.text) or ": " in quote.text
