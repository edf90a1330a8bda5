"""Encryption of secrets at rest: Fernet, with a key derived from a secret outside the database and the text's purpose."""

import base64
from collections.abc import Sequence

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF


class SealBroken(Exception):
    """A stored text was sealed for another purpose or under another secret."""


def seal_text(text: str, *, purpose: str, secrets: Sequence[str]) -> str:
    """Return the text sealed for this purpose alone; "" stays "". secrets: the first seals, each opens."""
    return _build_fernet(purpose, secrets).encrypt(text.encode()).decode() if text else ""


def unseal_text(stored: str, *, purpose: str, secrets: Sequence[str]) -> str:
    """Return a sealed text in the clear. Raises SealBroken."""
    try:
        return _build_fernet(purpose, secrets).decrypt(stored.encode()).decode() if stored else ""
    except InvalidToken:
        raise SealBroken from None


def _build_fernet(purpose: str, secrets: Sequence[str]) -> MultiFernet:
    return MultiFernet([Fernet(_derive_key(secret, purpose)) for secret in secrets])


def _derive_key(secret: str, purpose: str) -> bytes:
    raw = HKDF(algorithm=SHA256(), length=32, salt=None, info=purpose.encode()).derive(secret.encode())
    return base64.urlsafe_b64encode(raw)
