"""Questions to a real manual: pages of the Kubernetes documentation, which say one thing in several places and versions."""

import re
from collections.abc import Iterator

import pytest
from pytest_django import DjangoDbBlocker

from agent.passages.best import best_passages
from authz.principal import Principal
from knowledge.retrieval.engine import engine
from knowledge.retrieval.search import search
from tests.evaluation_data import data_folder
from tests.factories import allow, make_base, make_document, make_user
from tests.sharing import shared

pytestmark = pytest.mark.django_db

QUESTION = "What is the default rolling update strategy of a Deployment?"
IN_KUBERNETES = "What is the default rolling update strategy of a Deployment in Kubernetes?"
CHINESE = "Kubernetes 中 Deployment 的 rolling update 默认策略是什么？"
ABSENT = "How many days of annual leave do employees have in Rotterdam?"
PAGES = (
    "reference/glossary/deployment.md",
    "concepts/workloads/controllers/daemonset.md",
    "tasks/manage-daemon/update-daemon-set.md",
    "tasks/run-application/run-single-instance-stateful-application.md",
)
UNASKED = re.compile(
    r"^## (?:Use Case|Deployment status|Clean up|Canary|Pausing|Scaling|Rolling Back|用例|Deployment 状态|清理|金丝雀|暂停|缩放|回滚)"
)


@pytest.fixture(scope="module")
def reader(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Principal]:
    """Who may read the manual, which is embedded once for all questions to it."""
    with shared(django_db_blocker, make_manual) as copied:
        yield copied()


def make_manual() -> Principal:
    user = make_user()
    base = make_base()
    allow(user, base)
    root = data_folder("k8s_docs") / "raw"
    for language in ("en", "zh-cn"):
        for page in PAGES:
            if (file := root / language / "docs" / page).exists():
                make_document(base, f"{language}-{file.name}", file.read_text(), ingested=True)
        deployment = sections((root / language / "docs/concepts/workloads/controllers/deployment.md").read_text())
        make_document(base, f"{language}-deployment.md", deployment, ingested=True)
        for version in ("1.26", "1.25"):  # older versions of the page, nearly the same
            older = deployment.replace("v1", f"v1 ({version})").replace("The default value is", "The default is")
            make_document(base, f"{language}-deployment-{version}.md", older, ingested=True)
    return Principal.of(user)


def sections(page: str) -> str:
    """The page without the sections that no question here is about: the test embeds what it reads."""
    kept = [part for part in re.split(r"(?m)^(?=## )", page) if not UNASKED.match(part)]
    return "".join(kept)


@pytest.mark.parametrize("question", [QUESTION, IN_KUBERNETES, CHINESE])
def test_the_best_passage_says_it_and_a_highlighted_sentence_does(reader: Principal, question: str) -> None:
    best = best_passages(question, search(reader, question, top_k=8), engine().embedder)
    said = " ".join(sentence.text for each in best[:3] for sentence in each.sentences)
    assert "25%" in said or "RollingUpdate" in said


def test_below_the_floor_nothing_is_shown(reader: Principal) -> None:
    assert best_passages(ABSENT, search(reader, ABSENT, top_k=8), engine().embedder) == []
