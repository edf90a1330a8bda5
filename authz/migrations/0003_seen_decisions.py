"""When somebody read the decision about their request; those of before count as read."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('authz', '0002_rights_on_folders'),
    ]

    operations = [
        migrations.AddField(
            model_name='accessrequest',
            name='seen_at',
            field=models.DateTimeField(editable=False, null=True),
        ),
        migrations.RunSQL(
            "UPDATE authz_accessrequest SET seen_at = decided_at WHERE decided_at IS NOT NULL", migrations.RunSQL.noop
        ),
    ]
