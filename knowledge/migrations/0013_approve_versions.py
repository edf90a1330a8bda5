import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('knowledge', '0012_knowledge_graph'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='knowledgebase',
            name='is_approval_wanted',
            field=models.BooleanField(default=False, help_text='Whoever manages a folder approves the versions of its documents; until then they answer, and say so.', verbose_name='documents are approved'),
        ),
        migrations.AddField(
            model_name='documentversion',
            name='approved_at',
            field=models.DateTimeField(editable=False, null=True, verbose_name='approved'),
        ),
        migrations.AddField(
            model_name='documentversion',
            name='approved_by',
            field=models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
    ]
