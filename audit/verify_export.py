"""The format of the audit chain, and its offline verifier for exports: one file, standard library only.

    python3 verify_export.py EXPORT.jsonl --key PUBLIC_KEY_HEX [--key ANOTHER] [--json]

Exit code 0: all of it is what the holder of the key signed. 1: something is not, and the first bad place is named. 2: this is no
export. 3: nothing contradicts itself, but what a check without a key, of an older version or of a part cannot show is said. The
product hashes with the functions of this very file, so what an auditor reads here is the definition.

An entry's content is hashed as RFC 8785 canonical JSON: `content = SHA-256(canonical(entry))`. Names and addresses are in it
only as `SHA-256(salt || text)`: without salt and text nothing of them can be guessed, and both are gone only where a later entry
records an erasure of that person. The chain is `hash[n] = SHA-256(hash[n-1] || n as 8 bytes, big endian || content[n])`, with 32
zero bytes before the first. A checkpoint is the Ed25519 signature (RFC 8032) of `canonical({"v", "kind", "seq", "hash", "at",
"key"})`; kind "cut" says that everything up to `seq` was purged by rule.

Each line of an export is canonical JSON. The first, the header, is signed: the filter, the log's first and last number, how many
entries follow. The last is signed and holds the SHA-256 of all bytes before it. Checkpoints may be by an older key: name both.
"""

import hashlib
import json
import re
import sys
from argparse import ArgumentParser, RawTextHelpFormatter
from collections.abc import Collection, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

VERSION = 1  # of the chain
FORMAT = 2  # of an export; format 1 signed only its last line, and named neither its end nor how many entries
GENESIS = bytes(32)
PERSONAL = ("actor_name", "on_behalf_of_name", "target_name", "address")
CONTENT = (
    "at", "actor_id", "on_behalf_of_id", "action", "outcome", "reason", "target_type", "target_id", "request_id", "run_id",
    "detail", "personal",
)  # fmt: skip


# --- canonical JSON (RFC 8785) ----------------------------------------------------------------------------------------
def write_canonical_json(value: Any) -> bytes:
    """Write a JSON value in its canonical form. Raises ValueError for numbers that do not survive JSON."""
    return _encode(value).encode()


def _encode(value: Any) -> str:
    if isinstance(value, str):
        return json.encoder.encode_basestring(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _write_number(value)
    if isinstance(value, list | tuple):
        return f"[{','.join(map(_encode, value))}]"
    if isinstance(value, Mapping):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return f"{{{','.join(f'{json.encoder.encode_basestring(name)}:{_encode(value[name])}' for name in names)}}}"
    return json.dumps(value)  # true, false, null; raises for anything else


def _write_number(value: float) -> str:
    """Write a number as ECMAScript prints a double, as RFC 8785 requires."""
    if isinstance(value, int) and abs(value) <= 2**53:
        return str(int(value))
    text = _format_double(float(value)) if abs(value) <= sys.float_info.max else ""
    if not text or (isinstance(value, int) and Decimal(text) != value):
        raise ValueError(f"{value} does not survive JSON: write it as text")
    return text


def _format_double(number: float) -> str:
    if number == 0:
        return "0"
    mantissa, _, power = f"{abs(number)!r}".partition("e")
    whole, _, fraction = mantissa.removesuffix(".0").partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(power or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    if 0 < point <= 21:
        text = digits.ljust(point, "0") if len(digits) <= point else f"{digits[:point]}.{digits[point:]}"
    elif -6 < point <= 0:
        text = f"0.{'0' * -point}{digits}"
    else:
        text = f"{digits[0]}{'.' if digits[1:] else ''}{digits[1:]}e{point - 1:+d}"
    return f"-{text}" if number < 0 else text


# --- hashes -----------------------------------------------------------------------------------------------------------
def compute_content_hash(entry: Mapping[str, Any]) -> bytes:
    """Return the SHA-256 of an entry's content. entry: exactly the fields of CONTENT; `at` as text, `personal` as {field: hex}."""
    return hashlib.sha256(write_canonical_json({"v": VERSION} | {name: entry[name] for name in CONTENT})).digest()


def compute_commitment(text: str, salt: str) -> str:
    """Return the salted hash of a name or an address. salt: 32 hexadecimal digits of its own for each text."""
    return hashlib.sha256(bytes.fromhex(salt) + text.encode()).hexdigest()


def compute_link_hash(before: bytes, seq: int, content: bytes) -> bytes:
    """Return the hash at place `seq`; before: the hash at `seq - 1`."""
    return hashlib.sha256(before + seq.to_bytes(8, "big") + content).digest()


# --- Ed25519 (RFC 8032, verification only; about 3 ms) ----------------------------------------------------------------
_P = 2**255 - 19
_ORDER = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, -1, _P) % _P
_ROOT = pow(2, (_P - 1) // 4, _P)
Point = tuple[int, int, int, int]  # extended coordinates: x/z, y/z, t = xy/z


def _recover_point(data: bytes) -> Point | None:
    """Return the point that 32 bytes stand for, or None."""
    sign, y = divmod(int.from_bytes(data, "little"), 2**255)
    if len(data) != 32 or y >= _P:
        return None
    square = (y * y - 1) * pow(_D * y * y + 1, -1, _P) % _P
    x = pow(square, (_P + 3) // 8, _P)
    x = x * _ROOT % _P if (x * x - square) % _P else x
    if (x * x - square) % _P or (x == 0 and sign):
        return None
    x = _P - x if x & 1 != sign else x
    return x, y, 1, x * y % _P


def _add_points(one: Point, two: Point) -> Point:
    a, b = (one[1] - one[0]) * (two[1] - two[0]) % _P, (one[1] + one[0]) * (two[1] + two[0]) % _P
    c, d = 2 * one[3] * two[3] * _D % _P, 2 * one[2] * two[2] % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _multiply_point(scalar: int, point: Point) -> Point:
    total: Point = (0, 1, 1, 0)
    while scalar:
        if scalar & 1:
            total = _add_points(total, point)
        point, scalar = _add_points(point, point), scalar >> 1
    return total


_BASE = _recover_point((4 * pow(5, -1, _P) % _P).to_bytes(32, "little"))


def is_signed(message: bytes, signature: str, key: str) -> bool:
    """Tell whether `signature` is an Ed25519 signature of the message by `key`; both in hexadecimal, as kept."""
    try:
        raw, public = bytes.fromhex(signature), bytes.fromhex(key)
    except (TypeError, ValueError):
        return False
    signer, commit, scalar = _recover_point(public), _recover_point(raw[:32]), int.from_bytes(raw[32:], "little")
    if signer is None or commit is None or _BASE is None or len(raw) != 64 or scalar >= _ORDER:
        return False
    challenge = int.from_bytes(hashlib.sha512(raw[:32] + public + message).digest(), "little") % _ORDER
    left, right = _multiply_point(scalar, _BASE), _add_points(commit, _multiply_point(challenge, signer))
    return (left[0] * right[2] - right[0] * left[2]) % _P == 0 == (left[1] * right[2] - right[1] * left[2]) % _P


# --- an export --------------------------------------------------------------------------------------------------------
Shape = Mapping[str, Any]  # the types of an object's values, by name
OLD_HEADER: Shape = {"v": int, "format": str, "exported_at": str, "filter": dict, "first_seq": int}
HEADER: Shape = {**OLD_HEADER, "last_seq": int, "entries": int, "key": str | None}
CHECKPOINT: Shape = {"v": int, "kind": str, "seq": int, "hash": str, "at": str, "key": str}
ENTRY: Shape = {"seq": int, "previous_hash": str, "hash": str, "entry": dict, "personal": dict}
TRAILER: Shape = {"v": int, "sha256": str, "entries": int, "key": str | None}
KEY = re.compile("[0-9a-f]{64}")
SHOWN = 20  # faults that are printed; --json has all
ERASURE = "person.erased"  # the action that explains a person's missing names and addresses before it
NO_KEY = "No key was named: that somebody changed the file and made all hashes anew is not ruled out. Use --key."
OLD = "An older version made the file: its header is unsigned and names no end and no count; a gap is not ruled out."
GONE = "{} names or addresses are gone, and no erasure of them is in this part: whether one was recorded, the whole log shows."


class ExportFault(NamedTuple):
    """A verification failure. line: from 1; seq: the number of the first entry concerned, or None."""

    line: int
    seq: int | None
    what: str

    def __str__(self) -> str:
        return f"line {self.line}{'' if self.seq is None else f', number {self.seq}'}: {self.what}."


class Export:
    """The result for one file. trusted: the public keys you were given, hexadecimal. faults: in the file's order."""

    def __init__(self, trusted: Collection[str] = ()) -> None:
        self.trusted, self.keys = frozenset(trusted), set[str]()  # `keys`: the keys that signed something in the file
        self.header, self.before = dict[str, Any](), GENESIS
        self.is_complete, self.closed = True, False  # the whole log by its header; last line read
        self.line = self.entries = self.erased = self.signatures = self.first = self.last = 0
        self.signed, self.cuts = dict[int, str](), dict[int, str]()  # hashes of checkpoints and of cuts, by number
        self.gone = list[tuple[ExportFault, int | None]]()  # losses that no erasure explains yet, with the person's id
        self.faults, self.running = list[ExportFault](), hashlib.sha256()

    @property
    def first_bad(self) -> int | None:
        """Return the smallest sequence number with a fault."""
        return min((seq for _line, seq, _what in self.faults if seq is not None), default=None)

    @property
    def unshown(self) -> str:
        """Return what the check cannot prove although nothing failed; "" where it proves everything."""
        gone = "" if self.is_complete or not self.gone else GONE.format(len(self.gone))
        return NO_KEY if not self.trusted else OLD if self.header["v"] < FORMAT else gone

    def bad(self, seq: int | None, what: str) -> None:
        """Add a fault on the current line."""
        self.faults.append(ExportFault(self.line, seq, what))

    def read(self, line: bytes) -> None:
        """Process one line. Raises ValueError, RecursionError, for what no export contains."""
        self.line += 1
        found = json.loads(line)
        if write_canonical_json(found) + b"\n" != line:
            self.bad(None, "it is not written as an export is written: it was changed")
        if self.closed:
            self.bad(None, "there are lines after the last one")
        elif self.line == 1:
            self._check_header(found)
        elif "seq" in found:
            self.entry(check_shape(found, ENTRY))
        elif "checkpoint" in found:
            self._check_checkpoint(found)
        elif "trailer" in found:
            self._check_trailer(found)
        else:
            raise ValueError("it is neither entry, checkpoint nor trailer")
        self.running.update(line)

    def _check_header(self, found: dict[str, Any]) -> None:
        version = found["header"]["v"]
        if version not in {1, FORMAT}:
            raise ValueError("another version made it: take the verify_export.py that came with it")
        self.header = check_shape(found["header"], HEADER if version == FORMAT else OLD_HEADER)
        self.is_complete = not self.header["filter"]
        if version == FORMAT:
            self._check_signature(None, "the header", found, "header")

    def entry(self, found: dict[str, Any]) -> None:
        seq, before = found["seq"], bytes.fromhex(found["previous_hash"])
        if not 0 < seq < 2**63:
            raise ValueError("it is no sequence number")
        entry = check_shape(found["entry"], dict.fromkeys(CONTENT, object) | {"personal": dict})
        self.entries += 1
        self._check_sequence(seq, found["previous_hash"])
        if seq == self.last + 1 and before != self.before:
            self.bad(seq, f"it does not follow from {'the entry before it' if self.last else 'zeros'}")
        for field, digest in entry["personal"].items():
            self._check_personal_field(seq, field, digest, found["personal"].get(field), entry)
        for field in found["personal"].keys() - entry["personal"].keys():
            self.bad(seq, f"{field!a} was added: nothing was recorded there")
        if compute_link_hash(before, seq, compute_content_hash(entry)).hex() != found["hash"]:
            self.bad(seq, "its content does not have the hash of the chain")
        if self.signed.get(seq, found["hash"]) != found["hash"]:
            self.bad(seq, "the chain differs from a signed checkpoint: it was rewritten here or before")
        if entry["action"] == ERASURE and isinstance(entry["detail"], dict):
            self.gone = [gone for gone in self.gone if gone[1] is None or gone[1] != entry["detail"].get("person")]
        self.first, self.last, self.before = self.first or seq, seq, bytes.fromhex(found["hash"])

    def _check_sequence(self, seq: int, before: str) -> None:
        """Check this number against the header and the numbers before it."""
        if self.last and seq <= self.last:
            self.bad(seq, f"it stands behind number {self.last}")
        elif self.is_complete and seq != (expected := self.last + 1 if self.last else self.header["first_seq"]):
            self.bad(min(seq, expected), f"number {expected} is missing")
        if self.is_complete and seq > 1 and not self.last and self.cuts.get(seq - 1) != before:
            self.bad(seq, "the log begins here, and no signed cut says so: its beginning is missing")

    def _check_personal_field(self, seq: int, field: str, digest: object, given: Any, entry: Mapping[str, Any]) -> None:
        if field not in PERSONAL:
            self.bad(seq, f"{field!a} is no name or address that is recorded")
        elif given is None:
            self.erased += 1
            self.gone.append((ExportFault(self.line, seq, f"{field} is gone without its erasure"), id_of(entry, field)))
        elif compute_commitment(**check_shape(given, {"text": str, "salt": str})) != digest:
            self.bad(seq, f"{field} is not what was recorded")

    def _check_signature(self, seq: int | None, what: str, found: dict[str, Any], name: str) -> None:
        """Check the signature of the statement `name` of this line."""
        signature = check_shape(found, {name: dict, "signature": str | None})["signature"]
        key = found[name].get("key")
        if signature is None or key is None:
            if self.trusted:
                self.bad(seq, f"{what} is not signed")
            return
        if not KEY.fullmatch(key):
            raise ValueError("it names no public key")
        self.keys.add(key)
        self.signatures += 1
        if self.trusted and key not in self.trusted:
            self.bad(seq, f"{what} is signed by another key than the one you gave: {key}")
        elif not is_signed(write_canonical_json(found[name]), signature, key):
            self.bad(seq, f"the signature of {what} is wrong")

    def _check_checkpoint(self, found: dict[str, Any]) -> None:
        checkpoint = check_shape(found["checkpoint"], CHECKPOINT)
        seq = checkpoint["seq"]
        self._check_signature(seq, f"the checkpoint at {seq}", found, "checkpoint")
        if self.signed.setdefault(seq, checkpoint["hash"]) != checkpoint["hash"]:
            self.bad(seq, "two checkpoints name different chains: one of them was rewritten")
        if checkpoint["kind"] == "cut":
            self.cuts[seq] = checkpoint["hash"]

    def _check_trailer(self, found: dict[str, Any]) -> None:
        self.closed = True
        trailer = check_shape({"key": None} | found["trailer"], TRAILER)  # format 1 named no key where it had none
        self._check_signature(None, "the last line", found, "trailer")
        if trailer["key"] != self.header.get("key", trailer["key"]):
            self.bad(None, "the last line and the header are not signed by the same key")
        if trailer["sha256"] != self.running.hexdigest() or trailer["entries"] != self.entries:
            self.bad(None, "the lines above are not those that were exported: something was removed, added or changed")

    def close(self) -> None:
        """Run the checks that need the whole file."""
        if not self.closed:
            self.bad(self.last + 1, "the end of the file is missing")
        if self.is_complete and (ahead := max(self.signed, default=0)) > self.last:
            self.bad(self.last + 1, f"a signed checkpoint names {ahead}: the end of the log is missing")
        if self.is_complete and self.header.get("last_seq", self.last) != self.last:
            self.bad(self.last + 1, f"the header says that the log ends at {self.header['last_seq']}")
        if self.header.get("entries", self.entries) != self.entries:
            self.bad(None, f"the header names {self.header['entries']} entries, and {self.entries} are here")
        if self.is_complete:
            self.faults = sorted([*self.faults, *(gone for gone, _whom in self.gone)], key=lambda fault: fault.line)


def id_of(entry: Mapping[str, Any], field: str) -> int | None:
    """Return the id of the person whose name or address this is; None where the entry does not say."""
    target = str(entry["target_id"]) if entry["target_type"] == "user" else ""
    named = int(target) if target.isdecimal() else None
    own = entry["actor_id"] if field == "actor_name" or entry["actor_id"] else named
    person = {"target_name": named, "on_behalf_of_name": entry["on_behalf_of_id"]}.get(field, own)
    return person if isinstance(person, int) else None


def check_shape(found: Any, shape: Shape) -> dict[str, Any]:
    """Check that an object has exactly these names and types, and return it. Raises ValueError."""
    if not isinstance(found, dict) or found.keys() != shape.keys():
        raise ValueError(f"it should have exactly {', '.join(shape)}")
    for name, wanted in shape.items():
        if not isinstance(found[name], wanted) or (wanted is int and isinstance(found[name], bool)):
            raise ValueError(f"{name} is of the wrong kind")
    return found


def check_export(lines: Iterator[bytes], trusted: Collection[str] = ()) -> Export:
    """Read a whole export. trusted: the public keys you were given, in hexadecimal. Raises ValueError for what does not begin as one."""
    export = Export(trusted)
    for line in lines:
        try:
            export.read(line)
        except (KeyError, RecursionError, TypeError, ValueError) as error:
            if export.header.get("v") != FORMAT:
                raise ValueError(f"line {export.line} is not a line of an audit export: {str(error)!a}") from error
            export.bad(export.last + 1, f"it is no line of an export and was changed: {str(error)!a}")
    if not export.line:
        raise ValueError("the file is empty")
    export.close()
    return export


def main(arguments: list[str]) -> int:
    """Run the command line; return the exit code."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawTextHelpFormatter, allow_abbrev=False)
    parser.add_argument("file", type=Path)
    parser.add_argument("--key", type=str.lower, action="append", default=[])
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    if not all(map(KEY.fullmatch, given.key)):
        parser.error("a public key is 64 hexadecimal digits, as `manage.py audit_key` prints it")
    try:
        with given.file.open("rb") as file:
            export = check_export(iter(file), given.key)
    except (OSError, ValueError) as error:
        print(f"{given.file}: {error}", file=sys.stderr)
        return 2
    ok = not export.faults and not export.unshown
    if given.json:
        summary = {name: getattr(export, name) for name in ("first_bad", "entries", "erased", "header", "unshown")}
        faults = [fault._asdict() for fault in export.faults]
        print(json.dumps(summary | {"ok": ok, "faults": faults, "signed_by": sorted(export.keys)}))
    else:
        _print_result(export)
    return 0 if ok else 1 if export.faults else 3


def _print_result(export: Export) -> None:
    """Print text in ASCII: the file is untrusted."""
    header, erased, at = export.header, f"{export.erased} erased names or addresses", export.header["exported_at"]
    part = f"a part of the log, {json.dumps(header['filter'])}" if header["filter"] else "the whole log, without a gap"
    print(f"{export.entries} entries, {export.first} to {export.last}; {part}; {erased}; exported {at!a}.")
    sys.stdout.writelines(f"BAD {fault}\n" for fault in export.faults[:SHOWN])
    if export.faults:
        print(f"First bad sequence number: {export.first_bad or 'none; the file itself'}.")
    else:
        print(f"Every hash is right. {export.signatures} signatures, by {', '.join(sorted(export.keys)) or 'nobody'}.")
        print(export.unshown or "All of it is as the holder of the key you gave exported it.")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
