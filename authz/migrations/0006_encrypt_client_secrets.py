import base64

from cryptography.fernet import Fernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.db import migrations


def sealed(secret, where):
    info = f"copilot client secret {where}".encode()
    raw = HKDF(algorithm=SHA256(), length=32, salt=None, info=info).derive(settings.SECRET_KEY.encode())
    return Fernet(base64.urlsafe_b64encode(raw)).encrypt(secret.encode()).decode()


def encrypt(apps, schema_editor):
    """A client secret in clear text becomes one that is encrypted for its issuer; one that was noted for another is no secret."""
    for app in apps.get_model("socialaccount", "SocialApp").objects.exclude(secret=""):
        where = f"{app.client_id} at {app.settings.get('server_url')}"
        if app.settings.pop("secret_for", where) == where:
            app.settings["sealed_secret"] = sealed(app.secret, where)
        app.secret = ""
        app.save(update_fields=["secret", "settings"])


class Migration(migrations.Migration):

    dependencies = [
        ('authz', '0005_bind_client_secrets_to_issuers'),
        ('socialaccount', '0006_alter_socialaccount_extra_data'),
    ]

    operations = [
        migrations.RunPython(encrypt, migrations.RunPython.noop),
    ]
