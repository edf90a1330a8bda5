"""What a file of questions brings into an evaluation set, and what a wrong one is told."""

from collections.abc import Callable

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from agent.models import Case
from agent.question_sets.services import add_lines
from agent.question_sets.upload import lines_of
from copilot_site.lib.errors import InvalidInput
from tests.integration.agent.evaluation_desk import Desk
from tests.integration.governance.world import client_of, text_of
from tests.sharing import Share

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def shared_desk(share: Share) -> Callable[[], Desk]:
    return share(Desk)


@pytest.fixture
def desk(shared_desk: Callable[[], Desk], db: None) -> Desk:
    return shared_desk()


def test_a_file_of_questions_with_judgements_comes_in(desk: Desk) -> None:
    questions = (
        '{"id": "q1", "lang": "en", "kind": "glossary_term", "text": "Add-ons"}\n\n'
        '{"question": "Pay?", "person": "board", "answerable": false, "must_not": ["90,000"]}\n'
    )
    judgements = "query-id\tcorpus-id\tscore\nq1\ten/concepts/addons\t1\nq1\ten/other\t0\n"
    files = {
        "questions": SimpleUploadedFile("queries.jsonl", questions.encode()),
        "judgements": SimpleUploadedFile("qrels.tsv", judgements.encode()),
    }
    data = {"do": "upload", "person": desk.reader.username, **files}
    answer = client_of(desk.olga).post(reverse("evaluation", args=[desk.set.pk]), data, follow=True)
    assert "2 questions were added" in text_of(answer)
    rows = desk.set.cases.values_list("question", "person__username", "is_answerable", "documents", "forbidden")
    assert set(map(str, rows)) == {
        str(("Add-ons", desk.reader.username, None, ["en/concepts/addons"], [])),
        str(("Pay?", "board", False, [], ["90,000"])),
    }


WRONG = [
    ("", "", "no questions"),
    ("{", "", "Line 1 is not JSON"),
    ("[1]", "", "Line 1 is no object"),
    ('{"text": " "}', "", "Line 1 has no question"),
    ('{"text": "a"}\n{"text": "%s"}' % ("x" * 5000), "", "line 2 is too long"),
    ('{"text": "a", "answerable": "yes"}', "", "true or false"),
    ('{"text": "a", "answers": "b"}', "", "is a list of texts"),
    ('{"text": "a"}', "head\nq1\tdoc\thigh", "Line 2 of the judgements"),
    ("\n".join(['{"text": "a"}'] * 2001), "", "at most 2000"),
]


def test_a_wrong_file_is_one_sentence() -> None:
    for questions, judgements, sentence in WRONG:
        with pytest.raises(InvalidInput, match=sentence):
            lines_of(questions, judgements)


def test_a_file_that_names_somebody_unknown_adds_nothing(desk: Desk) -> None:
    lines = lines_of('{"text": "a"}\n{"text": "b", "person": "nobody-here"}')
    with pytest.raises(InvalidInput):
        add_lines(desk.olga, desk.set.pk, lines, person=desk.reader.username)
    assert not Case.objects.exists()
