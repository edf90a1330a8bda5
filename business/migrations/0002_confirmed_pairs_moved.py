"""Drop confirmed pairs: `agent.0003` has copied them into verified answers."""

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
