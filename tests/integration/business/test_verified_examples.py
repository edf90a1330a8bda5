"""Verified statements: made by a manager of the source, and examples under everybody's own rights."""

import json
from io import StringIO

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.core.management import call_command

from agent.models import VerifiedAnswer
from agent.verified_answers.matching import list_verified_examples
from agent.verified_answers.services import delete_verified_answer, verify_statement
from audit.actions import Action
from audit.models import Entry
from authz.permissions import Right
from authz.principal import Principal
from business.guard.refusal import SqlRefused
from business.linking.linker import Linker
from business.linking.schema_prompt import build_schema_prompt
from business.models import DataSource
from business.parsing.base import Example
from business.semantic_layer.model import SemanticLayer, UnitRule, Value
from business.sources.grants import grant
from business.sources.services import open_source, save_layer
from copilot_site.lib.errors import InvalidInput, NotFound
from tests.factories import make_user

QUESTION = "How many large customers are there?"
SQL = "SELECT count(*) FROM customer WHERE segment = 'large'"


def verified(person: User, question: str = QUESTION, sql: str = SQL) -> int:
    principal = Principal.of(person)
    opened = open_source(principal, "shop")
    result = async_to_sync(verify_statement)(principal, opened, question=question, sql=sql)
    assert result.answer.rows is not None
    return int(result.answer.rows.rows[0][-1])


@pytest.fixture
def manager(source: DataSource, northerner: User) -> User:
    grant(None, source, to=northerner, right=Right.MANAGE)
    return northerner


def test_a_verified_statement_is_an_example_and_the_newest_wins(source: DataSource, manager: User) -> None:
    principal = Principal.of(manager)
    assert verified(manager) == 0  # no large ones in the North
    verified(manager, f"  {QUESTION} ", SQL + " ")
    assert list_verified_examples(principal, source) == [Example(QUESTION, SQL)]
    out = StringIO()
    call_command("verified_answers", "shop", stdout=out)
    case = json.loads(out.getvalue())
    assert (case["question"], case["query"], case["db_name"]) == (QUESTION, SQL, "shop")
    assert (
        Entry.objects.filter(action=Action.VERIFIED_SAVED, target_id=str(VerifiedAnswer.unscoped.get().pk)).count() == 2
    )


def test_a_manager_retires_a_statement_and_nobody_else(source: DataSource, manager: User) -> None:
    verified(manager)
    answer = VerifiedAnswer.unscoped.get()
    with pytest.raises(NotFound):
        delete_verified_answer(Principal.of(make_user("sam")), answer.pk)
    assert VerifiedAnswer.unscoped.filter(pk=answer.pk).exists()
    principal = Principal.of(manager)
    delete_verified_answer(principal, answer.pk)
    assert list_verified_examples(principal, source) == []
    entry = Entry.objects.get(action=Action.VERIFIED_RETIRED, target_id=str(answer.pk))
    assert entry.actor_name == manager.username
    with pytest.raises(NotFound):
        delete_verified_answer(principal, answer.pk)


def test_an_example_is_there_only_for_whoever_may_run_it(source: DataSource, manager: User) -> None:
    verified(manager)
    verified(manager, "How many sales?", "SELECT count(*) FROM sale")
    seller, stranger = make_user("sal"), make_user("sam")
    grant(None, source, to=seller, table="sale")
    seen = {
        name: [e.sql for e in list_verified_examples(Principal.of(who), source)]
        for name, who in (("sal", seller), ("sam", stranger))
    }
    assert seen == {"sal": ["SELECT count(*) FROM sale"], "sam": []}


NAMING = [
    ("Sales of Customer 7", "SELECT count(*) FROM sale WHERE customer_id = 7"),
    ("Sales of a big one", "SELECT count(*) FROM customer WHERE name LIKE 'Customer 7%'"),
    ("Sales of a small one", "SELECT count(*) FROM customer WHERE lower(name) = 'customer 7'"),
    ("How many?", "SELECT 'the takeover of Customer 7' AS note, count(*) FROM customer"),
]
PLAIN = [
    ("Large ones in 2026", "SELECT count(*) FROM customer WHERE segment = 'large' AND since >= DATE '2026-01-01'"),
    ("By month", "SELECT to_char(since, 'YYYY-MM') AS m, count(*) FROM customer GROUP BY 1"),
    ("Lately", "SELECT count(*) FROM customer WHERE since >= now() - interval '3 months'"),
    ("Regions named East", "SELECT count(*) FROM region WHERE label = 'Somewhere'"),
]


def test_an_example_names_no_row_that_others_may_not_see(source: DataSource, manager: User) -> None:
    """A model repeats what it is shown to whoever asks it to; Customer 7 is in the South."""
    share(source, "region")
    for question, sql in NAMING + PLAIN:
        verified(manager, question, sql)
    seen = {(example.question, example.sql) for example in list_verified_examples(Principal.of(manager), source)}
    assert seen == set(PLAIN)


def test_a_model_is_told_no_name_of_a_row_of_org_units(source: DataSource, manager: User) -> None:
    layer = open_source(Principal.of(manager), "shop").layer

    def told(*, everyone: bool = False) -> str:
        return build_schema_prompt(Linker.of(named_by(layer, everyone=everyone)).link("How many customers are there?"))

    assert "'Customer 1'" in told(everyone=True)
    assert "'Customer" not in told()
    assert "'large', 'small'" in told()


def named_by(layer: SemanticLayer, *, everyone: bool = False) -> SemanticLayer:
    """With names of customers in the layer; everyone: as if every row of theirs were everybody's."""
    models = tuple(
        model.model_copy(update={
            "org_unit": UnitRule(shared_with="everyone") if everyone else model.org_unit,
            "dimensions": tuple(
                d.model_copy(update={"is_name": True, "values": tuple(Value(value=f"Customer {n}") for n in range(1, 9))})
                if d.name == "name" else d for d in model.dimensions
            ),
        }) for model in layer.semantic_models
    )  # fmt: skip
    return layer.model_copy(update={"semantic_models": models})


def share(source: DataSource, name: str) -> None:
    models = [
        model.model_copy(update={"org_unit": UnitRule(shared_with="everyone")} if model.name == name else {})
        for model in source.semantic_layer.semantic_models
    ]
    save_layer(None, source, source.semantic_layer.model_copy(update={"semantic_models": tuple(models)}))


def test_a_column_that_is_forbidden_later_takes_its_examples_with_it(source: DataSource, manager: User) -> None:
    verified(manager)
    layer: SemanticLayer = source.semantic_layer
    models = tuple(
        m.model_copy(
            update={
                "dimensions": tuple(d for d in m.dimensions if d.name != "segment"),
                "forbidden_columns": (*m.forbidden_columns, "segment"),
            }
        )
        for m in layer.semantic_models
    )
    save_layer(None, source, layer.model_copy(update={"semantic_models": models}))
    assert list_verified_examples(Principal.of(manager), source) == []


def test_what_does_not_run_or_answers_nothing_is_not_stored(source: DataSource, manager: User) -> None:
    for question, sql, error in (
        (QUESTION, "DELETE FROM customer", SqlRefused),
        (QUESTION, "SELECT api_token FROM customer", SqlRefused),
        (QUESTION, "SELECT 1 / (count(*) - count(*)) FROM customer", SqlRefused),
        ("  ", SQL, InvalidInput),
        ("x" * 2_001, SQL, InvalidInput),
    ):
        with pytest.raises(error):
            verified(manager, question, sql)
    assert not VerifiedAnswer.unscoped.exists()
