"""The canonical form and the signatures of the audit chain, against values and another implementation."""

import json
import math
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.verify_export import is_signed, write_canonical_json

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
NUMBERS = {  # RFC 8785, appendix B
    -0.0: "0", 5e-324: "5e-324", -5e-324: "-5e-324", 1.7976931348623157e308: "1.7976931348623157e+308",
    9007199254740992.0: "9007199254740992", 295147905179352830000.0: "295147905179352830000",
    9.999999999999997e22: "9.999999999999997e+22", 1e23: "1e+23", 1.0000000000000001e23: "1.0000000000000001e+23",
    999999999999999700000.0: "999999999999999700000", 1e21: "1e+21", 9.999999999999997e-7: "9.999999999999997e-7",
    0.000001: "0.000001", 333333333.33333325: "333333333.33333325", -0.0000033333333333333333: "-0.0000033333333333333333",
    1424953923781206.2: "1424953923781206.2",
}  # fmt: skip


def test_numbers_are_written_as_ecmascript_writes_them() -> None:
    for number, text in NUMBERS.items():
        assert write_canonical_json(number).decode() == text


def test_the_example_of_the_standard() -> None:
    value = {
        "numbers": [333333333.33333329, 1e30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": '€$\u000f\nA\'B"\\\\"/',
        "literals": [None, True, False],
    }
    assert write_canonical_json(value).decode() == (
        '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )


def test_names_are_sorted_as_utf_16() -> None:
    names = {"\ufb33": 1, "\U0001f600": 2, "\u20ac": 3, "1": 4, "\r": 5}
    assert list(json.loads(write_canonical_json(names))) == ["\r", "1", "\u20ac", "\U0001f600", "\ufb33"]


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, 2**53 + 1, 10**400])
def test_a_number_that_json_does_not_carry_is_refused(number: float) -> None:
    with pytest.raises(ValueError, match="does not survive JSON"):
        write_canonical_json(number)


def as_doubles(value: Any) -> Any:
    """What JSON means: every number a double."""
    if isinstance(value, dict):
        return {name: as_doubles(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [as_doubles(inner) for inner in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


@settings(deadline=None)
@given(VALUES)
def test_it_reads_back_as_the_same_value_and_is_its_own_form(value: object) -> None:
    written = write_canonical_json(value)
    assert json.loads(written, parse_int=float) == as_doubles(value)
    assert write_canonical_json(json.loads(written)) == written


@settings(max_examples=25)
@given(st.binary(max_size=200), st.integers(0, 511), st.binary(min_size=32, max_size=32))
def test_signatures_are_those_of_another_implementation(message: bytes, bit: int, seed: bytes) -> None:
    key = Ed25519PrivateKey.from_private_bytes(seed)
    public = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw).hex()
    signature = bytearray(key.sign(message))
    assert is_signed(message, signature.hex(), public)
    assert not is_signed(message + b"x", signature.hex(), public)
    signature[bit // 8] ^= 1 << bit % 8
    assert not is_signed(message, signature.hex(), public)


def test_what_is_no_signature_or_no_key_signs_nothing() -> None:
    for signature, key in (("", ""), ("zz", "00" * 32), ("00" * 64, "ff" * 32), ("00" * 64, "00")):
        assert not is_signed(b"", signature, key)
