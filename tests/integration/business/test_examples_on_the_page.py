"""The empty chat page: what may be asked is said, and every example of every demo login is answered to whoever sees it."""

import psycopg
import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils.translation import override

from agent.events import StopReason
from agent.models import Message
from authz.principal import Principal
from business.connections.address import Address
from business.models import DataSource, SourceGrant
from demo.business_data import FILES, QUESTIONS
from demo.company import DOCUMENTS, load_company
from demo.hints import list_sample_questions
from tests.factories import allow, make_base, make_document
from tests.integration.agent.conversations import asked, stored

COMPANY = load_company()
COUNTED = {question for said in QUESTIONS.values() for question in (said.zh, said.en)}
LEAD = "You can also ask for numbers and lists"


def named(username: str) -> User:
    return User.objects.get(username=username)


def examples_of(username: str) -> list[str]:
    found: list[str] = []
    for language in ("zh-hans", "en"):
        with override(language):
            found += list_sample_questions(Principal.named(username))
    return found


def home_of(username: str) -> str:
    client = Client()
    client.force_login(named(username))
    return client.get("/").content.decode()


def test_every_example_of_every_login_is_answered(demo: DataSource) -> None:
    examples = {person.username: examples_of(person.username) for person in COMPANY.people}
    shown = {question for example in examples.values() for question in example}
    documents = {
        question.document: question.readers
        for question in COMPANY.questions
        if question.document is not None and question.ask in shown
    }
    for path, readers in documents.items():
        base = make_base(path)
        make_document(base, path.rpartition("/")[2], (DOCUMENTS / path).read_bytes(), ingested=True)
        for reader in readers:
            allow(named(reader), base)
    tried: set[tuple[str, ...]] = set()
    refused = []
    for username, questions in examples.items():
        for question in questions:
            groups = tuple(sorted(Principal.named(username).org_units)) if question in COUNTED else ()
            if (question, *groups) in tried:  # documents: whoever sees the example reads the same one
                continue
            tried.add((question, *groups))
            row = stored(asked(Principal.named(username), question))
            if row.stop_reason != StopReason.OK or row.content.startswith("0"):
                refused.append((username, question, row.content))
    assert refused == []
    assert Message.objects.filter(provider="database").count() >= len(COUNTED)


def test_business_data_are_named_to_whoever_may_ask_them(demo: DataSource) -> None:
    for username, may in (("emma", True), ("chen", True), ("lin", True), ("sofia", False)):
        page = home_of(username)
        assert (LEAD in page, bool(COUNTED & set(examples_of(username)))) == (may, may)
    assert QUESTIONS["sales-product"].en in home_of("emma")
    SourceGrant.objects.all().delete()
    assert LEAD not in home_of("emma")
    assert not COUNTED & set(examples_of("emma"))


@pytest.mark.django_db
def test_the_demo_counts_back_from_the_day_of_the_company() -> None:
    """Whatever the server's own zone: these two are never on the same day."""
    for zone in ("Pacific/Kiritimati", "Pacific/Pago_Pago"):
        with psycopg.connect(**Address.of_django().keywords(), options=f"-c timezone={zone}") as connection:
            connection.execute("CREATE SCHEMA loaded")
            connection.execute("SET search_path = loaded")
            connection.execute((FILES / "demo.sql").read_bytes())
            late = "SELECT max(created_on) = (now() AT TIME ZONE 'Asia/Shanghai')::date FROM customer"
            assert connection.execute(late.encode()).fetchone() == (True,), zone
            connection.rollback()
