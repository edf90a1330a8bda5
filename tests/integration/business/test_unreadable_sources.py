"""A source that cannot be read, its password or its layer, costs nobody the others; the doctor names it."""

import pytest
from django.contrib.auth.models import User

from agent.models import VerifiedAnswer, VerifiedWording
from agent.verified_answers.matching import find_statement_for_question
from agent.verified_answers.wordings import hash_question
from authz.permissions import Right
from authz.principal import Principal
from business.cleanup import sweep_sandboxes
from business.models import DataSource
from business.pipeline import explain_reading
from business.results.visibility import Queried
from business.sources.grants import grant, managed_sources
from business.sources.services import find_still_visible, list_table_reach, open_source, open_sources
from copilot_site.doctor import check_data_sources
from copilot_site.lib.errors import InvalidInput
from tests.factories import make_user
from tests.integration.governance.world import client_of


def without_password() -> DataSource:
    """As after a changed secret key, or an address changed past every page."""
    source = DataSource(name="sealed", host="10.0.0.9", database="shop", username="reader")
    source.set_password("a password of the tests")
    source.host = "10.0.0.10"
    source.save()
    return source


def without_layer() -> DataSource:
    """As another version wrote it."""
    layer = {"name": "older", "semantic_models": [{"name": "customer"}]}
    return DataSource.unscoped.create(name="older", host="10.0.0.9", database="shop", layer=layer)


def without_host() -> DataSource:
    return DataSource.unscoped.create(name="homeless", database="shop")


def verify(question: str, source: DataSource) -> None:
    """A statement over a source that a question looks through."""
    key = hash_question(question)
    answer = VerifiedAnswer.unscoped.create(source=source, question=question, question_key=key, sql="SELECT 1")
    VerifiedWording.objects.create(answer=answer, text=question, key=key)


BROKEN = {"sealed", "older", "homeless"}


def test_the_others_are_asked_as_before_and_the_doctor_names_it(source: DataSource, northerner: User) -> None:
    principal = Principal.of(northerner)
    alone = open_sources(principal)
    queried = Queried(source="shop", reach=list_table_reach(alone[0].access.policy))
    broken = [without_password(), without_layer(), without_host()]
    for other in broken:
        for right in (Right.VIEW, Right.MANAGE):
            grant(None, other, to=northerner, right=right)
    assert [opened.source.name for opened in open_sources(principal)] == ["shop"]
    assert find_still_visible(principal, [queried, *(Queried(source=name) for name in BROKEN)]) >= {queried}
    assert explain_reading(principal, "How many customers are there?", "en").is_read
    for item in (source, *broken):
        verify("How many orders are there?", item)
    assert find_statement_for_question(principal, "How many customers are there?") is None
    assert managed_sources(principal) == BROKEN
    assert client_of(northerner).get("/").status_code == 200
    sweep_sandboxes()
    for name in BROKEN:
        with pytest.raises(InvalidInput, match=f"data source {name}"):
            open_source(principal, name)
    found = {finding.name.removeprefix("Data source "): finding for finding in check_data_sources()}
    assert {name for name, finding in found.items() if not finding.ok} == BROKEN == found.keys() - {"shop"}
    assert all(f"data source {name}" in found[name].detail for name in BROKEN)


def test_whoever_mends_it_is_told_in_a_sentence(source: DataSource) -> None:
    other, root = without_layer(), client_of(make_user("root", is_superuser=True))
    for page in (f"/admin/business/datasource/{other.pk}/change/", f"/admin/data-sources/{other.pk}/layer/"):
        answer = root.get(page)
        assert (answer.status_code, "cannot be read: import it again" in answer.content.decode()) == (400, True), page
