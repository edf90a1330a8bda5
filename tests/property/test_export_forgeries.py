"""No forger of an export passes: lines removed, changed, added, swapped or doubled, all hashes made anew, genuine exports mixed.

The forger has everything but the key that the auditor was given: the format, other genuine exports of the same log by the same
key, and a key of their own.
"""

import hashlib
import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from itertools import product
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given, settings
from hypothesis import strategies as st

from audit import verify_export
from audit.chain.keys import public_key_of, read_signing_key
from audit.export import export_entries, find_export_format
from audit.selectors import EntryFilter
from audit.verify_export import (
    Export,
    compute_commitment,
    compute_content_hash,
    compute_link_hash,
    write_canonical_json,
)
from tests.integration.audit.conftest import folders, logbook
from tests.integration.audit.logbook import ANNA, Logbook, write

__all__ = ["folders", "logbook"]

Line = dict[str, Any]
Change = Callable[[list[Line], int], None]
FORGER = Ed25519PrivateKey.from_private_bytes(b"f" * 32)
VALUES: list[Any] = ["", "x", 0, 7, -1, 2**60, 1.5, True, None, [], {}, {"a": 1}, "ab" * 32, "00" * 32]


@dataclass(frozen=True)
class Genuine:
    """Exports of one log by one key: the whole of it, the whole of it later, and a part."""

    key: str
    contents: dict[str, bytes]

    def lines(self, name: str) -> list[Line]:
        return [json.loads(line) for line in self.contents[name].splitlines()]


@pytest.fixture
def genuine(logbook: Logbook) -> Genuine:
    def exported(**chosen: Any) -> bytes:
        return b"".join(export_entries(ANNA, chosen=EntryFilter(**chosen), form=find_export_format("jsonl")))

    whole = exported()
    write(22)
    return Genuine(
        public_key_of(read_signing_key()),
        {"whole": whole, "later": exported(), "part": exported(until=logbook.entry(12).at), "anna": exported(actor="anna")},
    )  # fmt: skip


def written(lines: list[Line]) -> bytes:
    return b"".join(write_canonical_json(line) + b"\n" for line in lines)


def shown(content: bytes, key: str) -> bool:
    """Whether the verifier ends with 0; if not, it names a place."""
    try:
        found = verify_export.check_export(iter(content.splitlines(keepends=True)), [key])
    except ValueError as error:
        named = str(error).startswith("line ") or not content
        return not named
    assert all(1 <= fault.line <= content.count(b"\n") and fault.what for fault in found.faults)
    return not found.faults and not found.unshown


def entries_of(lines: list[Line]) -> list[Line]:
    return [line for line in lines if "entry" in line]


def made_anew(lines: list[Line], signed_by: Ed25519PrivateKey | None) -> None:
    """Every hash that needs no key: names, contents, chain, numbers of the header, the last line. Signatures as far as one can."""
    entries = entries_of(lines)
    whole = not lines[0]["header"]["filter"]
    for seq, line in enumerate(entries, entries[0]["seq"] if entries else 1):
        line["seq"] = seq if whole else line["seq"]
    before = entries[0]["previous_hash"] if entries else ""
    for line in entries:
        line["entry"]["personal"] |= {name: compute_commitment(**line["personal"][name]) for name in line["personal"]}
        line["previous_hash"] = before if whole else line["previous_hash"]
        before = compute_link_hash(
            bytes.fromhex(line["previous_hash"]), line["seq"], compute_content_hash(line["entry"])
        ).hex()
        line["hash"] = before
    last = entries[-1]["seq"] if whole and entries else lines[0]["header"]["last_seq"]
    lines[0]["header"] |= {"entries": len(entries), "last_seq": last}
    lines[:] = [line for line in lines if "checkpoint" not in line]
    signed(lines[0], "header", signed_by)
    lines[-1]["trailer"] |= {"sha256": hashlib.sha256(written(lines[:-1])).hexdigest(), "entries": len(entries)}
    signed(lines[-1], "trailer", signed_by)


def signed(line: Line, name: str, by: Ed25519PrivateKey | None) -> None:
    line[name]["key"] = public_key_of(by) if by else None
    line["signature"] = by.sign(write_canonical_json(line[name])).hex() if by else None


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to each value inside, objects included."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield (*path, name)
            yield from leaves(inner, (*path, name))


def put(line: Line, path: tuple[Any, ...], value: Any) -> None:
    for name in path[:-1]:
        line = line[name]
    line[path[-1]] = value


def remove(lines: list[Line], at: int) -> None:
    del lines[at]


def double(lines: list[Line], at: int) -> None:
    lines.insert(at, deepcopy(lines[at]))


def swap(lines: list[Line], at: int) -> None:
    other = at - 1 if at else 1
    lines[at], lines[other] = lines[other], lines[at]


def end_here(lines: list[Line], at: int) -> None:
    """The last line comes at once."""
    del lines[at : len(lines) - 1]


def deny(lines: list[Line], at: int) -> None:
    """Something else in the line: what an entry says, whose a header or a signature is."""
    line = lines[at]
    if "entry" in line:
        line["entry"]["outcome"] = "deny"
    else:
        name = next(name for name in ("header", "checkpoint", "trailer") if name in line)
        line[name][{"header": "exported_at", "checkpoint": "at", "trailer": "sha256"}[name]] = "0" * 64


def unsign(lines: list[Line], at: int) -> None:
    lines[at]["signature"] = None


CHANGES: dict[str, Change] = {
    "removed": remove, "doubled": double, "swapped": swap, "the rest removed": end_here, "changed": deny, "unsigned": unsign,
}  # fmt: skip


SIGNERS: tuple[list[Ed25519PrivateKey | None], ...] = ([], [None], [FORGER])


@pytest.mark.parametrize("step", [pytest.param(7, id="some lines"), pytest.param(1, id="every line")])
def test_a_change_at_any_line_is_found_whatever_is_made_anew(genuine: Genuine, step: int) -> None:
    """Each kind of change: at the first lines, at the last, at each signature between, and at others."""
    for which, change, anew in product(("whole", "part"), CHANGES.values(), SIGNERS):
        whole = genuine.lines(which)
        signatures = {at for at, line in enumerate(whole) if "signature" in line}
        for at in sorted({*range(0, len(whole), step), 1, len(whole) - 2, *signatures}):
            lines = deepcopy(whole)
            change(lines, at)
            for by in anew:
                if lines and "header" in lines[0] and "trailer" in lines[-1]:
                    made_anew(lines, by)
            content = written(lines)
            if content not in genuine.contents.values():
                assert not shown(content, genuine.key), (which, change.__name__, at, anew)


def test_a_genuine_export_passes(genuine: Genuine) -> None:
    assert [shown(content, genuine.key) for content in genuine.contents.values()] == [True] * 4


def unfiltered(genuine: Genuine, by: Ed25519PrivateKey | None) -> list[Line]:
    """A part presented as the whole log."""
    lines = genuine.lines("part")
    lines[0]["header"]["filter"] = {}
    made_anew(lines, by)
    return lines


def test_a_part_presented_as_the_whole_is_found_by_the_key_alone(genuine: Genuine) -> None:
    """The control: all else fits together, so that it is the signatures that show it."""
    other = f"is signed by another key than the one you gave: {public_key_of(FORGER)}"
    for by, says in ((None, "is not signed"), (FORGER, other)):
        content = written(unfiltered(genuine, by))
        assert verify_export.check_export(iter(content.splitlines(keepends=True))).faults == []
        found = verify_export.check_export(iter(content.splitlines(keepends=True)), [genuine.key]).faults
        faults = [(line, what) for line, _seq, what in found]
        assert faults == [(1, f"the header {says}"), (content.count(b"\n"), f"the last line {says}")]


def test_a_genuine_header_and_a_genuine_last_line_do_not_make_an_export(genuine: Genuine) -> None:
    """Each is signed by the right key; what lies between is not what they were signed with."""
    for above in genuine.contents:
        for below in genuine.contents:
            for at in range(1, len(genuine.lines(above)), 8):
                rest = [line for line in genuine.lines(below)[1:] if "trailer" in line or line.get("seq", 0) >= at]
                content = written(genuine.lines(above)[:at] + rest)
                assert shown(content, genuine.key) == (content in genuine.contents.values()), (above, below, at)


def test_two_genuine_exports_in_one_file_are_none(genuine: Genuine) -> None:
    for above in genuine.contents.values():
        for below in genuine.contents.values():
            assert not shown(above + below, genuine.key)
            assert not shown(above[: -len(above.splitlines(keepends=True)[-1])] + below, genuine.key)


def test_a_guard_that_is_off_lets_a_forger_pass(genuine: Genuine, monkeypatch: pytest.MonkeyPatch) -> None:
    content = written(unfiltered(genuine, None))
    monkeypatch.setattr(Export, "_check_signature", lambda *given: None)
    assert shown(content, genuine.key)


def test_any_forgery_is_found(genuine: Genuine) -> None:
    """Some changes at once, at any place, out of any export."""

    @settings(max_examples=150, database=None)
    @given(st.data())
    def run(data: st.DataObject) -> None:
        lines = genuine.lines(data.draw(st.sampled_from([*genuine.contents]), label="from"))
        for _ in range(data.draw(st.integers(1, 3), label="changes")):
            forged(data, genuine, lines)
        if data.draw(st.booleans(), label="made anew") and is_whole(lines):
            made_anew(lines, data.draw(st.sampled_from([None, FORGER]), label="signed by"))
        try:
            content = written(lines)
        except ValueError:  # what no JSON holds
            return
        assert shown(content, genuine.key) == (content in genuine.contents.values())

    run()


def is_whole(lines: list[Line]) -> bool:
    """Whether what is to be made anew is there."""
    try:
        made_anew(deepcopy(lines), None)
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError):
        return False
    return True


def forged(data: st.DataObject, genuine: Genuine, lines: list[Line]) -> None:
    """One change that is drawn."""
    if not lines:
        return
    at = data.draw(st.integers(0, len(lines) - 1), label="at")
    how = data.draw(st.sampled_from([*CHANGES, "a value", "a line of another", "the rest of another"]), label="how")
    other = genuine.lines(data.draw(st.sampled_from([*genuine.contents]), label="other"))
    place = data.draw(st.integers(0, len(other) - 1), label="place")
    if how == "a line of another":
        lines.insert(at, other[place])
    elif how == "the rest of another":
        lines[at:] = other[place:]
    elif how == "a value":
        path = data.draw(st.sampled_from(sorted(leaves(lines[at]), key=str)), label="path")
        put(lines[at], path, deepcopy(data.draw(st.sampled_from(VALUES), label="value")))
    elif how != "swapped" or len(lines) > 1:
        try:
            CHANGES[how](lines, at)
        except (KeyError, TypeError, StopIteration):  # already no such line any more
            del lines[at]
