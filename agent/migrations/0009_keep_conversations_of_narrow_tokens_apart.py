from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("agent", "0008_bind_keys_to_addresses")]

    operations = [
        migrations.AddField("session", "within", models.UUIDField(editable=False, null=True)),
    ]
