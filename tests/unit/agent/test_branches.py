"""The tree of a conversation: paths, and what stands beside each other."""

from collections.abc import Iterator
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.conversations.branches import Branches, MessageTree
from copilot_site.lib.errors import NotFound


def uid(number: int) -> UUID:
    return UUID(int=number)


def tree(*rows: tuple[int, int | None]) -> MessageTree:
    return MessageTree((uid(pk), uid(parent) if parent else None) for pk, parent in rows)


# 1 asks, 2 answers; 3 asks on, 4 answers; 5 is 3 in other words, 6 answers; 7 is 1 in other words, 8 answers; 9, 10 go on from 4
ASKED = ((1, None), (2, 1), (3, 2), (4, 3), (5, 2), (6, 5), (7, None), (8, 7), (9, 4), (10, 9))


def test_a_path_goes_from_the_first_question_to_what_was_written_last() -> None:
    for through, path in ((None, [1, 2, 3, 4, 9, 10]), (5, [1, 2, 5, 6]), (7, [7, 8])):
        assert tree(*ASKED).path(uid(through) if through else None) == list(map(uid, path))


def test_what_a_message_follows_ends_with_it() -> None:
    assert tree(*ASKED).up_to(uid(6)) == list(map(uid, [1, 2, 5, 6]))


def test_questions_at_one_place_know_the_ones_beside_them() -> None:
    found = tree(*ASKED)
    assert found.branches(uid(3)) == Branches(1, 2, None, uid(5))
    assert found.branches(uid(5)) == Branches(2, 2, uid(3), None)
    assert found.branches(uid(7)) == Branches(2, 2, uid(1), None)
    assert found.branches(uid(9)) is None


def test_what_is_not_in_the_conversation_is_not_found() -> None:
    for way in (tree(*ASKED).path, tree(*ASKED).up_to):
        with pytest.raises(NotFound):
            way(uid(99))


@st.composite
def trees(draw: st.DrawFn) -> list[tuple[int, int | None]]:
    size = draw(st.integers(1, 12))

    def rows() -> Iterator[tuple[int, int | None]]:
        for pk in range(1, size + 1):
            parent = draw(st.integers(0, pk - 1))
            yield pk, parent or None

    return list(rows())


@given(trees(), st.data())
def test_every_path_is_a_way_from_a_root_to_a_leaf_through_what_was_named(
    rows: list[tuple[int, int | None]], data: st.DataObject
) -> None:
    through = data.draw(st.integers(1, len(rows)))
    path = [pk.int for pk in tree(*rows).path(uid(through))]
    parents = dict(rows)
    assert through in path
    assert [parents[pk] for pk in path] == [None, *path[:-1]]
    assert path[-1] not in parents.values(), "nothing follows the last"
