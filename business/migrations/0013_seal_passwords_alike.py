import base64
import hashlib

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.db import migrations


def before(where):
    digest = hashlib.sha256(f"{settings.SECRET_KEY}:data-source:{where}".encode()).digest()
    return Fernet(base64.urlsafe_b64encode(digest))


def after(where):
    info = f"copilot data source password {where}".encode()
    raw = HKDF(algorithm=SHA256(), length=32, salt=None, info=info).derive(settings.SECRET_KEY.encode())
    return Fernet(base64.urlsafe_b64encode(raw))


def seal(apps, schema_editor):
    """Passwords are sealed as every other stored secret is, still each for its address alone."""
    for source in apps.get_model("business", "DataSource").unscoped.exclude(encrypted_password=b""):
        where = f"{source.username}@{source.host}:{source.port}/{source.database} ({source.tls})"
        where = where if source.host else f"own server/{source.database}"
        try:
            password = before(where).decrypt(bytes(source.encrypted_password))
        except InvalidToken:  # of another secret key: it is asked for again, as before
            continue
        source.encrypted_password = after(where).encrypt(password)
        source.save(update_fields=["encrypted_password"])


class Migration(migrations.Migration):

    dependencies = [
        ("business", "0012_kind_of_database"),
    ]

    operations = [
        migrations.RunPython(seal, migrations.RunPython.noop),
    ]
