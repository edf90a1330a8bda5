import base64

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.db import migrations


def cipher(purpose):
    """As keys were and are encrypted, under the secret of their own first, if there is one."""
    secrets = filter(None, (settings.LLM["keys_secret"], settings.SECRET_KEY))
    derived = (
        HKDF(algorithm=SHA256(), length=32, salt=None, info=purpose.encode()).derive(s.encode()) for s in secrets
    )
    return MultiFernet([Fernet(base64.urlsafe_b64encode(raw)) for raw in derived])


def bind(apps, schema_editor):
    """A key that was stored for whatever address the row has becomes one for the address that it has now."""
    for row in apps.get_model("agent", "LanguageModel").objects.exclude(encrypted_key=""):
        try:
            key = cipher("copilot language model keys").decrypt(row.encrypted_key.encode())
        except InvalidToken:  # of another secret: it is asked for again, as before
            continue
        row.encrypted_key = cipher(f"copilot language model keys {row.base_url}").encrypt(key).decode()
        row.save(update_fields=["encrypted_key"])


class Migration(migrations.Migration):
    dependencies = [
        ("agent", "0007_index_open_answers_and_answers_by_time"),
    ]

    operations = [
        migrations.RunPython(bind, migrations.RunPython.noop),
    ]
