"""Business data in front of others: what a grant to a group opens that all are in, and the rows of the units that all are in."""

from django.contrib.auth.models import User

from authz.models import UnitKind
from authz.people.units import add_member, create_unit
from authz.principal import Principal
from business.models import DataSource
from business.sources.grants import grant
from business.sources.services import open_sources
from tests.factories import make_group, make_user


def opened(*people: User) -> dict[str, set[str]]:
    """The tables of each source that they may ask together."""
    principal = Principal.of(people[0]).before(person.pk for person in people[1:])
    return {item.source.name: {m.name for m in item.layer.semantic_models} for item in open_sources(principal)}


def test_a_source_is_open_by_a_grant_to_a_group_of_all(source: DataSource) -> None:
    all_of_them, some = make_group(), make_group()
    anna, ben, cleo = (make_user(groups=[all_of_them]) for _person in range(3))
    some.user_set.set([anna, ben])
    grant(None, source, to=some)
    grant(None, source, to=anna, table="customer")
    grant(None, source, to=all_of_them, table="sale")
    assert opened(anna) != opened(cleo)
    assert opened(anna, ben) == opened(ben)
    assert opened(anna, ben, cleo) == opened(cleo) == {"shop": {"sale"}}


def test_what_each_has_of_their_own_opens_nothing_together(source: DataSource) -> None:
    anna, ben = make_user(), make_user()
    grant(None, source, to=anna)
    grant(None, source, to=ben)
    assert opened(anna) == opened(ben) != {}
    assert opened(anna, ben) == {}


def test_rows_are_those_of_the_units_of_all(source: DataSource, northerner: User) -> None:
    everybody = make_group()
    south = create_unit(None, name="South", kind=UnitKind.DEPARTMENT)
    sam = make_user(groups=[everybody])
    add_member(None, south.group, user=sam)
    northerner.groups.add(everybody)
    grant(None, source, to=everybody)
    alone = Principal.of(northerner)
    assert alone.org_units == {"North"}
    (one,) = open_sources(alone.before([sam.pk]))
    units = {table.units for table in one.access.policy.tables if table.org_column}
    assert units == {()}
