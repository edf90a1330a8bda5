from django.db import migrations, models


FILL = """
UPDATE agent_caseresult AS result SET question = asked.question FROM agent_case AS asked WHERE asked.id = result.case_id
"""  # what was changed before is not known any more


class Migration(migrations.Migration):

    dependencies = [
        ('agent', '0025_ask_before_the_web_by_profile'),
    ]

    operations = [
        migrations.AddField(
            model_name='caseresult',
            name='question',
            field=models.TextField(default=''),
            preserve_default=False,
        ),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
    ]
