"""Passages keep the blocks they are made of; versions what was not read of their file, and what it states of itself."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('knowledge', '0001_initial'),
    ]

    operations = [
        migrations.AddField(
            model_name='chunk',
            name='blocks',
            field=models.JSONField(blank=True, db_default=models.Value([], models.JSONField()), default=list, editable=False),
        ),
        migrations.AddField(
            model_name='documentversion',
            name='losses',
            field=models.JSONField(blank=True, default=dict, editable=False),
        ),
        migrations.AddField(
            model_name='documentversion',
            name='stated',
            field=models.JSONField(blank=True, default=dict, editable=False),
        ),
    ]
