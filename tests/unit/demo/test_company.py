"""The demo company: its file, its documents, who may read them, and the questions that the chat page suggests."""

import re
from pathlib import Path

import pytest

from demo.build.__main__ import SOURCES
from demo.company import COMPANY_FILE, DOCUMENTS, Company, CompanyError, list_documents, load_company

EVERYBODY = {"chen", "emma", "lin", "pieter", "sofia", "zhao"}
RESTRICTED = {
    "engineering/security-incidents": {"pieter"},
    "people/confidential": {"lin"},
    "people/confidential/compensation": {"lin"},
    "people/confidential/reviews": {"lin"},
    "people/recruitment": {"lin", "pieter"},
    "company/confidential": {"pieter", "sofia"},
    "company/confidential/board": {"pieter", "sofia"},
    "company/confidential/finance": {"pieter", "sofia"},
    "product-sales/customers": {"zhao"},
    "product-sales/pricing": {"emma", "sofia", "zhao"},
}
COMPANY = load_company()
ANSWERED = [question for question in COMPANY.questions if question.document]


def text_of(document: str) -> str:
    """The readable text of a document: its own, or that of the source it was built from; HTML without its tags."""
    source = SOURCES / f"{document}.md"
    text = (source if source.exists() else DOCUMENTS / document).read_text(encoding="utf-8")
    return re.sub(r"<[^>]+>", "", text) if document.endswith(".html") else text


def changed(tmp_path: Path, old: str, new: str) -> Path:
    """A copy of the company file with its first `old` replaced."""
    text = COMPANY_FILE.read_text(encoding="utf-8")
    assert old in text
    file = tmp_path / "company.yaml"
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    return file


def test_documents_refuses_a_file_outside_the_declared_folders(tmp_path: Path) -> None:
    (tmp_path / "people" / "secret").mkdir(parents=True)
    (tmp_path / "people" / "secret" / "note.txt").write_text("x", encoding="utf-8")
    with pytest.raises(CompanyError, match=r"note\.txt lies in people/secret, which is no folder of the company file"):
        list_documents(COMPANY, tmp_path)


def test_restricted_folder_is_read_by_exactly() -> None:
    for place, readers in RESTRICTED.items():
        assert COMPANY.readers(place) == readers


def test_open_folders_are_read_by_everybody() -> None:
    assert {place for place in COMPANY.places if COMPANY.readers(place) == EVERYBODY} == {
        "company/expenses-travel",
        "company/meetings",
        "company/plans",
        "company/policies",
        "people/benefits",
        "people/handbook",
        "people/onboarding",
        "product-sales/products",
    }


def test_nobody_but_hr_reads_salaries_through_a_second_grant() -> None:
    above = {"people", "people/confidential", "people/confidential/compensation", "people/confidential/reviews"}
    assert [(grant.group, grant.user) for grant in COMPANY.grants if grant.where in above] == [("hr", None)]


def test_sample_question_is_answered_by_its_document() -> None:
    for question in ANSWERED:
        assert question.document is not None
        assert question.contains is not None
        assert (DOCUMENTS / question.document).is_file()
        assert question.contains in text_of(question.document)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("    email: chen.wei", "    emial: chen.wei", r"people\[1\].email is missing"),
        ("    staff: true", "    staff: true\n    boss: xu", r"people\[0\].boss is not a known key"),
        ("language: zh-hans", "language: fr", r"people\[0\].language: Input should be 'zh-hans' or 'en'"),
        (
            "where: people/handbook",
            "where: people/hand",
            "grant on people/hand names the place 'people/hand', which is not declared",
        ),
        ("{group: all-staff, may", "{group: all, may", "names the group 'all', which is not declared"),
        ("{group: hr, may", "{group: hr, user: lin, may", r"grants\[21\]: a grant names either a group or a user"),
        ("username: chen", "username: lin", "people has 'lin' twice"),
        ("readers: [chen, pieter]", "readers: [chen, zhao]", "names other readers than the grants"),
        ("name: {zh: 衡舟科技", "name: {zh: [", "company.yaml is not YAML: .*line 4"),
    ],
)
def test_load_company_refuses_a_wrong_file_in_one_sentence(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(CompanyError, match=message) as caught:
        load_company(changed(tmp_path, old, new))
    assert "\n" not in str(caught.value)


def test_an_assistant_offers_questions_of_both_languages_that_all_who_may_use_it_can_read() -> None:
    readers = {question.ask: set(question.readers) for question in COMPANY.questions}
    for assistant in COMPANY.assistants:
        users = {person.username for person in COMPANY.people if set(person.groups) & set(assistant.groups)}
        assert all(users <= readers[ask] for ask in assistant.ask), assistant.name.en
        assert COMPANY.asked(assistant, "en")
        assert COMPANY.asked(assistant, "zh-hans")


def test_readers_follows_a_grant_down_the_tree_only(tmp_path: Path) -> None:
    file = changed(tmp_path, "where: people/handbook", "where: people/confidential/reviews").read_text(encoding="utf-8")
    wider = tmp_path / "wider.yaml"
    wider.write_text(file.partition("questions:")[0] + "questions: []\n", encoding="utf-8")
    company: Company = load_company(wider)
    assert company.readers("people/confidential/reviews/x.pdf") == EVERYBODY
    assert company.readers("people/confidential/compensation") == {"lin"}
    assert company.readers("people/handbook") == {"lin"}


def test_reviews_are_of_documents_that_their_owner_may_read() -> None:
    company = load_company()
    for review in company.reviews:
        assert (DOCUMENTS / review.document).is_file()
        assert review.owner in company.readers(review.document)
    assert {review.in_days < 0 for review in company.reviews} == {True, False}, "some are overdue, some are not"
