from django.db import migrations


def bind(apps, schema_editor):
    """A client secret that was stored for whatever issuer the row has becomes one for the issuer that it has now."""
    for app in apps.get_model("socialaccount", "SocialApp").objects.exclude(secret=""):
        app.settings["secret_for"] = f"{app.client_id} at {app.settings.get('server_url')}"
        app.save(update_fields=["settings"])


class Migration(migrations.Migration):

    dependencies = [
        ('authz', '0004_permission_snapshots_and_access_requests'),
        ('socialaccount', '0006_alter_socialaccount_extra_data'),
    ]

    operations = [
        migrations.RunPython(bind, migrations.RunPython.noop),
    ]
