"""Room for the chain: hashes on entries, links, the head, checkpoints, holds. The old triggers give way; 0005 has the new."""

import importlib
import typing

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

import audit.models

OLD: typing.Any = importlib.import_module("audit.migrations.0002_refuse_changes")


class Migration(migrations.Migration):
    dependencies = [
        ('audit', '0002_refuse_changes'),
    ]

    operations = [
        migrations.RunSQL(OLD.ALLOW, OLD.REFUSE),
        migrations.CreateModel(
            name='Head',
            fields=[
                ('only_one', models.BooleanField(default=True, primary_key=True, serialize=False)),
                ('seq', models.BigIntegerField()),
                ('hash', models.BinaryField(max_length=32)),
            ],
        ),
        migrations.CreateModel(
            name='Hold',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('reason', models.CharField(help_text='Case or file number; it appears in the audit log.', max_length=255, verbose_name='reason')),
                ('person_id', models.BigIntegerField(blank=True, help_text="Empty: everybody. Otherwise this person's names and entries only.", null=True, verbose_name='user id')),
                ('from_at', models.DateTimeField(blank=True, help_text='Empty: from the first entry.', null=True, verbose_name='from')),
                ('until_at', models.DateTimeField(blank=True, help_text='Empty: without an end.', null=True, verbose_name='until')),
                ('placed_at', models.DateTimeField(auto_now_add=True, verbose_name='placed')),
                ('released_at', models.DateTimeField(editable=False, null=True, verbose_name='released')),
            ],
            options={
                'verbose_name': 'legal hold',
                'verbose_name_plural': 'legal holds',
                'ordering': ('-placed_at',),
            },
        ),
        migrations.AlterModelOptions(
            name='entry',
            options={'ordering': ('-id',), 'permissions': [('export_entry', 'Can export the audit log')], 'verbose_name': 'audit entry', 'verbose_name_plural': 'audit entries'},
        ),
        migrations.AddField(
            model_name='entry',
            name='content_hash',
            field=models.BinaryField(default=b'', max_length=32, verbose_name='hash of the content'),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name='entry',
            name='on_behalf_of_id',
            field=models.BigIntegerField(null=True, verbose_name='on behalf of, id'),
        ),
        migrations.AddField(
            model_name='entry',
            name='on_behalf_of_name',
            field=models.CharField(blank=True, max_length=150, verbose_name='on behalf of'),
        ),
        migrations.AddField(
            model_name='entry',
            name='personal',
            field=models.JSONField(default=dict, verbose_name='hashes of names and addresses'),
        ),
        migrations.AddField(
            model_name='entry',
            name='salts',
            field=models.JSONField(default=dict, verbose_name='salts of names and addresses'),
        ),
        migrations.AlterField(
            model_name='entry',
            name='action',
            field=models.CharField(choices=audit.models.known_actions, db_index=True, max_length=64, verbose_name='action'),
        ),
        migrations.AlterField(
            model_name='entry',
            name='at',
            field=models.DateTimeField(db_index=True, default=django.utils.timezone.now, verbose_name='time'),
        ),
        migrations.CreateModel(
            name='Checkpoint',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('seq', models.BigIntegerField(verbose_name='sequence number')),
                ('kind', models.CharField(choices=[('periodic', 'periodic'), ('cut', 'everything up to here was purged by rule')], default='periodic', max_length=16, verbose_name='kind')),
                ('hash', models.BinaryField(max_length=32, verbose_name='hash of the chain')),
                ('at', models.DateTimeField(verbose_name='time')),
                ('key', models.CharField(max_length=64, verbose_name='public key')),
                ('signature', models.CharField(max_length=128, verbose_name='signature')),
            ],
            options={
                'verbose_name': 'checkpoint',
                'verbose_name_plural': 'checkpoints',
                'ordering': ('seq', 'id'),
                'constraints': [models.UniqueConstraint(fields=('seq', 'kind'), name='one_checkpoint_of_a_kind')],
            },
        ),
        migrations.CreateModel(
            name='Link',
            fields=[
                ('seq', models.BigIntegerField(primary_key=True, serialize=False, verbose_name='sequence number')),
                ('hash', models.BinaryField(max_length=32, verbose_name='hash of the chain')),
                ('entry', models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='link', to='audit.entry', verbose_name='audit entry')),
            ],
        ),
    ]
