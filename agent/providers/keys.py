"""Keys of models, encrypted at rest: Fernet under a key that is derived from a secret outside the database and the model's address."""

import base64

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings


class KeyLost(Exception):
    """A stored key was encrypted for another address or under another secret: the operator enters it again."""


def sealed(key: str, address: str) -> str:
    """The key as it is stored, for this address alone; "" stays ""."""
    return _fernet(address).encrypt(key.encode()).decode() if key else ""


def opened(stored: str, address: str) -> str:
    """The key again, for the address that it was stored for. Raises KeyLost."""
    if not stored:
        return ""
    try:
        return _fernet(address).decrypt(stored.encode()).decode()
    except InvalidToken:
        raise KeyLost("the key was stored for another address or another COPILOT_SECRET_KEY; enter it again") from None


def _fernet(address: str) -> MultiFernet:
    """New keys are sealed under the secret of their own, if there is one; those sealed before it was set still open."""
    secrets = filter(None, (settings.LLM["keys_secret"], settings.SECRET_KEY))
    return MultiFernet([Fernet(_derived(secret, address)) for secret in secrets])


def _derived(secret: str, address: str) -> bytes:
    purpose = f"copilot language model keys {address}".encode()
    raw = HKDF(algorithm=SHA256(), length=32, salt=None, info=purpose).derive(secret.encode())
    return base64.urlsafe_b64encode(raw)
