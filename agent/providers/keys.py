"""Keys of models, encrypted at rest: Fernet under a key that is derived from a secret outside the database."""

import base64

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings


class KeyLost(Exception):
    """A stored key was encrypted under another secret: the operator enters it again."""


def sealed(key: str) -> str:
    """The key as it is stored; "" stays ""."""
    return _fernet().encrypt(key.encode()).decode() if key else ""


def opened(stored: str) -> str:
    """The key again. Raises KeyLost."""
    if not stored:
        return ""
    try:
        return _fernet().decrypt(stored.encode()).decode()
    except InvalidToken:
        raise KeyLost("the key was stored under another COPILOT_SECRET_KEY; enter it again") from None


def _fernet() -> MultiFernet:
    """New keys are sealed under the secret of their own, if there is one; those sealed before it was set still open."""
    secrets = filter(None, (settings.LLM["keys_secret"], settings.SECRET_KEY))
    return MultiFernet([Fernet(_derived(secret)) for secret in secrets])


def _derived(secret: str) -> bytes:
    raw = HKDF(algorithm=SHA256(), length=32, salt=None, info=b"copilot language model keys").derive(secret.encode())
    return base64.urlsafe_b64encode(raw)
