"""The format of the audit chain, and its offline verifier for exports: one file, standard library only.

    python3 verify_export.py EXPORT.jsonl [--key PUBLIC_KEY_HEX] [--json]

Exit code 0: every line that is there is true. 1: something is not, and the first bad sequence number is named. 2: this is no
export. The product hashes with the functions of this very file, so what an auditor reads here is the definition.

An entry's content is hashed as RFC 8785 canonical JSON: `content = SHA-256(canonical(entry))`. Names and addresses are in it
only as `SHA-256(salt || text)`: without salt and text, which an erasure removes, nothing of them can be guessed. The chain is
`hash[n] = SHA-256(hash[n-1] || n as 8 bytes, big endian || content[n])`, with 32 zero bytes before the first. A checkpoint is
the Ed25519 signature (RFC 8032) of `canonical({"v", "kind", "seq", "hash", "at", "key"})`; kind "cut" says that everything up
to `seq` was purged by rule. The last line of an export signs the SHA-256 of all bytes before it.
"""

import hashlib
import json
import sys
from collections.abc import Iterator, Mapping
from decimal import Decimal
from json.encoder import encode_basestring
from pathlib import Path
from typing import Any

VERSION = 1
GENESIS = bytes(32)
PERSONAL = ("actor_name", "on_behalf_of_name", "target_name", "address")
CONTENT = (
    "at", "actor_id", "on_behalf_of_id", "action", "outcome", "reason", "target_type", "target_id", "request_id", "run_id",
    "detail", "personal",
)  # fmt: skip


# --- canonical JSON (RFC 8785) ----------------------------------------------------------------------------------------
def canonical(value: Any) -> bytes:
    """The one way to write a JSON value. Raises ValueError for numbers that do not survive JSON."""
    return _written(value).encode()


def _written(value: Any) -> str:
    if isinstance(value, str):
        return encode_basestring(value)
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, int | float):
        return _number(value)
    if isinstance(value, list | tuple):
        return f"[{','.join(map(_written, value))}]"
    if isinstance(value, Mapping):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return f"{{{','.join(f'{encode_basestring(name)}:{_written(value[name])}' for name in names)}}}"
    return json.dumps(value)  # which says what it is


def _number(value: float) -> str:
    """As ECMAScript prints a double, which is how JSON means numbers."""
    if isinstance(value, int) and abs(value) <= 2**53:
        return str(int(value))
    try:
        number = float(value)
    except OverflowError:
        number = float("inf")
    text = _double(number) if abs(number) < float("inf") else "NaN"
    if text == "NaN" or (isinstance(value, int) and Decimal(text) != value):
        raise ValueError(f"{value} does not survive JSON: write it as text")
    return text


def _double(number: float) -> str:
    if number == 0:
        return "0"
    mantissa, _, power = f"{abs(number)!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" else fraction
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
def content_hash(entry: Mapping[str, Any]) -> bytes:
    """SHA-256 of what an entry says. entry: exactly the fields of CONTENT; `at` as text, `personal` as {field: hex}."""
    return hashlib.sha256(canonical({"v": VERSION} | {name: entry[name] for name in CONTENT})).digest()


def commitment(text: str, salt: str) -> str:
    """What the chain holds of a name or an address. salt: 32 hexadecimal digits of its own for each text."""
    return hashlib.sha256(bytes.fromhex(salt) + text.encode()).hexdigest()


def link_hash(before: bytes, seq: int, content: bytes) -> bytes:
    """The hash at place `seq`; before: the hash at `seq - 1`."""
    return hashlib.sha256(before + seq.to_bytes(8, "big") + content).digest()


# --- Ed25519 (RFC 8032, verification only; about 3 ms) ----------------------------------------------------------------
_P = 2**255 - 19
_ORDER = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, -1, _P) % _P
_ROOT = pow(2, (_P - 1) // 4, _P)
Point = tuple[int, int, int, int]  # extended coordinates: x/z, y/z, t = xy/z


def _recovered(data: bytes) -> Point | None:
    """The point that 32 bytes stand for, or None."""
    number = int.from_bytes(data, "little")
    sign, y = number >> 255, number & (2**255 - 1)
    if y >= _P:
        return None
    square = (y * y - 1) * pow(_D * y * y + 1, -1, _P) % _P
    x = pow(square, (_P + 3) // 8, _P)
    if (x * x - square) % _P:
        x = x * _ROOT % _P
    if (x * x - square) % _P or (x == 0 and sign):
        return None
    x = _P - x if x & 1 != sign else x
    return x, y, 1, x * y % _P


def _sum(one: Point, two: Point) -> Point:
    a, b = (one[1] - one[0]) * (two[1] - two[0]) % _P, (one[1] + one[0]) * (two[1] + two[0]) % _P
    c, d = 2 * one[3] * two[3] * _D % _P, 2 * one[2] * two[2] % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _times(scalar: int, point: Point) -> Point:
    total: Point = (0, 1, 1, 0)
    while scalar:
        if scalar & 1:
            total = _sum(total, point)
        point, scalar = _sum(point, point), scalar >> 1
    return total


_BASE = _recovered((4 * pow(5, -1, _P) % _P).to_bytes(32, "little"))


def is_signed(message: bytes, signature: str, key: str) -> bool:
    """Whether `signature` is an Ed25519 signature of the message by `key`; both in hexadecimal, as kept."""
    try:
        raw, public = bytes.fromhex(signature), bytes.fromhex(key)
    except (TypeError, ValueError):
        return False
    if len(raw) != 64 or len(public) != 32 or _BASE is None:
        return False
    signer, commit, scalar = _recovered(public), _recovered(raw[:32]), int.from_bytes(raw[32:], "little")
    if signer is None or commit is None or scalar >= _ORDER:
        return False
    challenge = int.from_bytes(hashlib.sha512(raw[:32] + public + message).digest(), "little") % _ORDER
    left, right = _times(scalar, _BASE), _sum(commit, _times(challenge, signer))
    return (left[0] * right[2] - right[0] * left[2]) % _P == 0 == (left[1] * right[2] - right[1] * left[2]) % _P


# --- an export --------------------------------------------------------------------------------------------------------
class Export:
    """What was found in one file. `faults` are (sequence number or None, sentence), in the order of the file."""

    def __init__(self, key: str | None) -> None:
        self.key, self.keys = key, set[str]()
        self.header: dict[str, Any] | None = None
        self.entries, self.erased, self.signatures = 0, 0, 0
        self.first = self.last = 0
        self.before = GENESIS
        self.signed: dict[int, str] = {}  # the hash that a checkpoint names, by sequence number
        self.cuts: dict[int, str] = {}  # the same of those behind which a purge began
        self.faults: list[tuple[int | None, str]] = []
        self.running = hashlib.sha256()
        self.closed = False

    @property
    def first_bad(self) -> int | None:
        """The smallest sequence number with a fault."""
        return min((seq for seq, _ in self.faults if seq is not None), default=None)

    def read(self, line: bytes) -> None:
        """Take one line. Raises ValueError for what no export contains."""
        found = json.loads(line)
        if self.closed:
            self.faults.append((None, "there are lines after the last one"))
        elif "header" in found:
            self.header = found["header"]
        elif self.header is None:
            raise ValueError("the first line is not the header of an export")
        elif "entry" in found:
            self._entry(found)
        elif "checkpoint" in found:
            self._checkpoint(found["checkpoint"], found["signature"])
        elif "trailer" in found:
            self._trailer(found["trailer"], found["signature"])
        else:
            raise ValueError("a line is neither entry, checkpoint nor trailer")
        self.running.update(line)

    def _entry(self, found: dict[str, Any]) -> None:
        seq, before = int(found["seq"]), bytes.fromhex(found["previous_hash"])
        header = self.header or {}
        self.entries += 1
        complete = not header.get("filter")
        if self.last and seq <= self.last:
            self.faults.append((seq, f"it stands behind number {self.last}"))
        elif complete and seq != (expected := self.last + 1 if self.last else int(header.get("first_seq") or seq)):
            self.faults.append((min(seq, expected), f"number {expected} is missing"))
        if seq == self.last + 1 and self.last and before != self.before:
            self.faults.append((seq, "it does not follow from the entry before it"))
        if seq == 1 and before != GENESIS:
            self.faults.append((seq, "the chain does not begin with zeros"))
        if complete and seq > 1 and not self.last and self.cuts.get(seq - 1) != found["previous_hash"]:
            self.faults.append((seq, "the log begins here, and no signed cut says so: its beginning is missing"))
        for field, digest in found["entry"]["personal"].items():
            self._personal(seq, field, digest, found["personal"].get(field))
        for field in found["personal"].keys() - found["entry"]["personal"].keys():
            self.faults.append((seq, f"{field} was added: nothing was recorded there"))
        content = content_hash(found["entry"])
        if link_hash(before, seq, content).hex() != found["hash"]:
            self.faults.append((seq, "its content does not have the hash of the chain"))
        if self.signed.get(seq, found["hash"]) != found["hash"]:
            self.faults.append((seq, "the chain differs from a signed checkpoint: it was rewritten here or before"))
        self.first, self.last, self.before = self.first or seq, seq, bytes.fromhex(found["hash"])

    def _personal(self, seq: int, field: str, digest: str, given: dict[str, str] | None) -> None:
        if given is None:
            self.erased += 1
        elif commitment(given["text"], given["salt"]) != digest:
            self.faults.append((seq, f"{field} is not what was recorded"))

    def _signed(self, seq: int | None, what: str, message: bytes, signature: str, key: str) -> None:
        self.keys.add(key)
        if self.key is not None and key != self.key:
            self.faults.append((seq, f"{what} is signed by another key than the one you gave"))
        elif not is_signed(message, signature, key):
            self.faults.append((seq, f"the signature of {what} is wrong"))
        self.signatures += 1

    def _checkpoint(self, checkpoint: dict[str, Any], signature: str) -> None:
        seq = int(checkpoint["seq"])
        self._signed(seq, f"the checkpoint at {seq}", canonical(checkpoint), signature, checkpoint["key"])
        self.signed[seq] = checkpoint["hash"]
        if checkpoint["kind"] == "cut":
            self.cuts[seq] = checkpoint["hash"]

    def _trailer(self, trailer: dict[str, Any], signature: str | None) -> None:
        self.closed = True
        if trailer["sha256"] != self.running.hexdigest() or trailer["entries"] != self.entries:
            self.faults.append((None, "the file differs from the one that was exported"))
        if signature is None:
            return
        self._signed(None, "the export", canonical(trailer), signature, trailer["key"])

    def close(self) -> None:
        """Look at what only the end of the file shows."""
        if not self.closed:
            self.faults.append((self.last + 1, "the end of the file is missing"))
        ahead = max(self.signed, default=0)
        if not (self.header or {}).get("filter") and ahead > self.last:
            self.faults.append((self.last + 1, f"a signed checkpoint names {ahead}: the end of the log is missing"))


def check(lines: Iterator[bytes], key: str | None = None) -> Export:
    """Read a whole export. key: the public key you were given, in hexadecimal. Raises ValueError, naming the line."""
    export, number = Export(key), 0
    for number, line in enumerate(lines, 1):
        try:
            export.read(line)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(f"line {number} is not a line of an audit export: {error}") from error
    if export.header is None:
        raise ValueError("the file is empty")
    export.close()
    return export


def main(arguments: list[str]) -> int:
    """The command line; returns the exit code."""
    key = arguments[arguments.index("--key") + 1] if "--key" in arguments[:-1] else None
    names = [word for word in arguments if not word.startswith("--") and word != key]
    if len(names) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        with Path(names[0]).open("rb") as file:
            export = check(iter(file), key)
    except (OSError, ValueError) as error:
        print(f"{names[0]}: {error}", file=sys.stderr)
        return 2
    if "--json" in arguments:
        faults = [{"seq": seq, "what": what} for seq, what in export.faults]
        print(
            json.dumps({"ok": not faults, "first_bad": export.first_bad, "entries": export.entries, "faults": faults})
        )
    else:
        _tell(export)
    return 1 if export.faults else 0


def _tell(export: Export) -> None:
    part = "a part of the log" if (export.header or {}).get("filter") else "the whole log, without a gap"
    print(
        f"{export.entries} entries, {export.first} to {export.last}; {part}; {export.erased} erased names or addresses."
    )
    for seq, what in export.faults[:20]:
        print(f"BAD {'file' if seq is None else seq}: {what}.")
    if export.faults:
        print(
            f"First bad sequence number: {export.first_bad if export.first_bad is not None else 'none; the file itself'}."
        )
        return
    print("Every hash is right.")
    for key in sorted(export.keys):
        print(
            f"{export.signatures} signatures by {key}"
            + ("." if export.key else ": compare it with the key you were given.")
        )
    if not export.signatures:
        print("Nothing is signed: somebody who changed the file could have made all hashes anew.")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
