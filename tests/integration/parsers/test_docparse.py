"""Token F1 of parsed files against the ground truth of other projects, beside a plain text extractor."""

import json
from pathlib import Path

import pytest

from evals.management.commands.evaluate_parsing import token_f1
from knowledge.parsers.base import ParseLimits, load_parsers, parsers
from tests.evaluation_data import data_folder

pytestmark = pytest.mark.data

# One ground truth keeps words as line ends cut them ("rea- soning"), which we put together.
TOLERANCE = 0.025


def test_files_are_read_as_well_as_by_a_plain_extractor() -> None:
    load_parsers()
    folder = data_folder("docparse")
    scores: dict[str, tuple[float, float]] = {}
    for pair in json.loads((folder / "pairs.json").read_text()):
        parsed = parsers.get(pair["fmt"]).parse(folder / pair["source"], ParseLimits())
        expected = (folder / pair["groundtruth"]).read_text()
        # no ground truth has the headers and footers of pages
        text = "\n".join(block.text for block in parsed.blocks if block.kind != "running")
        scores[Path(pair["source"]).name] = token_f1(text, expected), pair["baseline_token_f1"]
    worse = {name: score for name, score in scores.items() if score[0] < score[1] - TOLERANCE}
    assert worse == {}
    assert len(scores) == 23
    assert sum(ours for ours, _ in scores.values()) > sum(plain for _, plain in scores.values())


def test_headings_of_pages_are_found_by_their_size() -> None:
    load_parsers()
    source = data_folder("docparse") / "docling/pdf/sources/multi_page.pdf"
    headings = [b.text for b in parsers.get("pdf").parse(source, ParseLimits()).blocks if b.kind == "heading"]
    assert "The Birth of Word Processing (1960s - 1970s)" in headings
    assert all(len(heading) < 60 for heading in headings)


def test_translated_page_leaves_out_its_original_and_keeps_its_code() -> None:
    load_parsers()
    page = data_folder("k8s_docs") / "raw/zh-cn/docs/concepts/workloads/controllers/daemonset.md"
    parsed = parsers.get("markdown").parse(page, ParseLimits())
    assert parsed.title == "DaemonSet"
    assert "As nodes are added" not in parsed.text
    assert "当有节点加入集群时" in parsed.text
    assert "kubectl apply -f https://k8s.io/examples/controllers/daemonset.yaml" in parsed.text
    assert "{{<" not in parsed.text
    assert {"heading", "item", "table", "code", "paragraph"} == {block.kind for block in parsed.blocks}
