from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('knowledge', '0003_graph_by_form_alone'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='documentversion',
            index=models.Index(models.F('parse_status'), condition=models.Q(('parse_status__in', ('pending', 'processing', 'failed'))), name='version_unfinished_idx'),
        ),
    ]
