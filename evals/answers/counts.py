"""Count what became of the rows of a question file."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

Detail = Mapping[str, Any]


def counts_by_group(
    details: Sequence[Detail], names: Sequence[str], counted_as: Callable[[Detail], Iterable[str]]
) -> dict[str, Any]:
    """Return counts over all, `groups` with those of each group, and the `details`.

    details: each with its `group`. counted_as: the names under which a detail counts; one that is not in `names` does not.
    """
    groups = {group: dict.fromkeys(names, 0) for group in sorted({detail["group"] for detail in details})}
    for detail in details:
        for name in counted_as(detail):
            if name in names:
                groups[detail["group"]][name] += 1
    total = {name: sum(counts[name] for counts in groups.values()) for name in names}
    return total | {"groups": groups, "details": details}
