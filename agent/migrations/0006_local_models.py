"""The address on this machine that a superuser allowed for a language model."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("agent", "0005_privacy")]

    operations = [
        migrations.AddField(
            "languagemodel",
            "local_address",
            models.CharField(blank=True, default="", editable=False, max_length=80),
        ),
    ]
