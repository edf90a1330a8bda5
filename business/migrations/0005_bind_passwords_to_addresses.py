import base64
import hashlib

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings
from django.db import migrations


def cipher(purpose):
    return Fernet(base64.urlsafe_b64encode(hashlib.sha256(f"{settings.SECRET_KEY}:{purpose}".encode()).digest()))


def bind(apps, schema_editor):
    """A password that was stored for whatever address the row has becomes one for the address that it has now."""
    for source in apps.get_model("business", "DataSource").unscoped.exclude(encrypted_password=b""):
        where = f"{source.username}@{source.host}:{source.port}/{source.database} ({source.tls})"
        where = where if source.host else f"own server/{source.database}"
        try:
            password = cipher("data-source").decrypt(bytes(source.encrypted_password))
        except InvalidToken:  # of another secret key: it is asked for again, as before
            continue
        source.encrypted_password = cipher(f"data-source:{where}").encrypt(password)
        source.save(update_fields=["encrypted_password"])


class Migration(migrations.Migration):

    dependencies = [
        ('business', '0004_tls_of_sources'),
    ]

    operations = [
        migrations.RunPython(bind, migrations.RunPython.noop),
    ]
