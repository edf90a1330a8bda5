"""Confirmed pairs are verified answers now; `agent.0002` has taken them over."""

from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('business', '0001_initial'),
        ('agent', '0003_verified_answers'),
    ]

    operations = [
        migrations.DeleteModel(
            name='ConfirmedPair',
        ),
    ]
