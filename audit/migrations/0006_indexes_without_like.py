"""Five indexes of an entry instead of nine: those for LIKE on ids and actions cost every insert and serve nobody."""

import audit.models
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0005_link_at_commit_and_refuse_changes'),
    ]

    operations = [
        migrations.AlterField(
            model_name='entry',
            name='action',
            field=models.CharField(choices=audit.models.known_actions, max_length=64, verbose_name='action'),
        ),
        migrations.AlterField(
            model_name='entry',
            name='actor_id',
            field=models.BigIntegerField(null=True, verbose_name='actor id'),
        ),
        migrations.AlterField(
            model_name='entry',
            name='at',
            field=models.DateTimeField(default=django.utils.timezone.now, verbose_name='time'),
        ),
        migrations.AlterField(
            model_name='entry',
            name='run_id',
            field=models.CharField(blank=True, max_length=64, verbose_name='run id'),
        ),
        migrations.AlterField(
            model_name='entry',
            name='target_id',
            field=models.CharField(blank=True, max_length=64, verbose_name='target id'),
        ),
        migrations.AddIndex(
            model_name='entry',
            index=models.Index(fields=['at'], name='audit_entry_at_idx'),
        ),
        migrations.AddIndex(
            model_name='entry',
            index=models.Index(fields=['actor_id'], name='audit_entry_actor_id_idx'),
        ),
        migrations.AddIndex(
            model_name='entry',
            index=models.Index(fields=['action'], name='audit_entry_action_idx'),
        ),
        migrations.AddIndex(
            model_name='entry',
            index=models.Index(fields=['target_id'], name='audit_entry_target_id_idx'),
        ),
        migrations.AddIndex(
            model_name='entry',
            index=models.Index(fields=['run_id'], name='audit_entry_run_id_idx'),
        ),
    ]
