"""Verified answers, and the confirmed pairs of questions and statements as such."""

import django.db.models.deletion
import django.db.models.manager
import django.utils.timezone
import pgvector.django.halfvec
import re
import uuid
from hashlib import sha256

from django.conf import settings
from django.db import migrations, models

from knowledge.text.normalise import normalise_text


def key_of(question):
    return sha256(" ".join(re.findall(r"\w+", normalise_text(question).casefold())).encode()).hexdigest()


def take_over(apps, _schema_editor):
    """Each confirmed pair with its person and time; of two with the same words the newer one."""
    answers, wordings = apps.get_model("agent", "VerifiedAnswer"), apps.get_model("agent", "VerifiedWording")
    for pair in apps.get_model("business", "ConfirmedPair").objects.order_by("confirmed_at").iterator():
        key = key_of(pair.question)
        answers.unscoped.filter(source_id=pair.source_id, question_key=key).delete()
        answer = answers.unscoped.create(
            id=pair.pk,
            source_id=pair.source_id,
            question=pair.question,
            question_key=key,
            sql=pair.sql,
            verified_by_id=pair.confirmed_by_id,
            verified_at=pair.confirmed_at,
        )
        wordings.objects.create(answer=answer, text=pair.question, key=key)


def give_back(apps, _schema_editor):
    """Return the statements to where they were."""
    pairs = apps.get_model("business", "ConfirmedPair")
    for answer in apps.get_model("agent", "VerifiedAnswer").unscoped.filter(source__isnull=False).iterator():
        pair = pairs.objects.create(
            id=answer.pk,
            source_id=answer.source_id,
            question=answer.question,
            question_sha256=sha256(answer.question.encode()).hexdigest(),
            sql=answer.sql,
            confirmed_by_id=answer.verified_by_id,
        )
        pairs.objects.filter(pk=pair.pk).update(confirmed_at=answer.verified_at)


class Migration(migrations.Migration):

    dependencies = [
        ('agent', '0002_best_passages'),
        ('business', '0001_initial'),
        ('knowledge', '0002_blocks_and_losses'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='VerifiedAnswer',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('question', models.TextField(verbose_name='question')),
                ('question_key', models.CharField(editable=False, max_length=64)),
                ('text', models.TextField(blank=True, verbose_name='answer')),
                ('sql', models.TextField(blank=True, verbose_name='query')),
                ('layer_sha256', models.CharField(blank=True, editable=False, max_length=64)),
                ('expires_on', models.DateField(blank=True, null=True, verbose_name='valid until')),
                ('verified_at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='verified')),
                ('flag', models.CharField(blank=True, choices=[('changed', "a source has changed"), ('gone', (
                    "a source no longer exists"
                )), ('layer', (
                    "the tables of a data source have changed their meaning"
                ))], editable=False, max_length=10, verbose_name='to be reviewed')),
                ('folder', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='knowledge.folder', verbose_name='folder')),
                ('source', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='business.datasource', verbose_name='data source')),
                ('verified_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='verified by')),
            ],
            options={
                'verbose_name': 'verified answer',
                'verbose_name_plural': 'verified answers',
                'ordering': ('-verified_at', 'id'),
                'base_manager_name': 'unscoped',
                'default_manager_name': 'unscoped',
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='VerifiedCitation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField()),
                ('evidence_id', models.CharField(max_length=200)),
                ('by', models.CharField(blank=True, max_length=200)),
                ('verified_on', models.DateField()),
                ('text_hash', models.CharField(max_length=64)),
                ('answer', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='agent.verifiedanswer')),
                ('message', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='verified', to='agent.message')),
            ],
            options={
                'ordering': ('number',),
            },
        ),
        migrations.CreateModel(
            name='VerifiedSource',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('version_id', models.UUIDField(null=True)),
                ('chunk_id', models.UUIDField(null=True)),
                ('start', models.PositiveIntegerField(default=0)),
                ('end', models.PositiveIntegerField(default=0)),
                ('layer_sha256', models.CharField(blank=True, max_length=64)),
                ('answer', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='sources', to='agent.verifiedanswer')),
                ('data_source', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='business.datasource')),
                ('document', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='knowledge.document')),
                ('folder', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='knowledge.folder')),
            ],
            options={
                'ordering': ('pk',),
            },
        ),
        migrations.CreateModel(
            name='VerifiedWording',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('text', models.TextField()),
                ('key', models.CharField(db_index=True, max_length=64)),
                ('space', models.CharField(blank=True, max_length=200)),
                ('vector', pgvector.django.halfvec.HalfVectorField(null=True)),
                ('answer', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='wordings', to='agent.verifiedanswer')),
            ],
            options={
                'ordering': ('pk',),
            },
        ),
        migrations.AddConstraint(
            model_name='verifiedanswer',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('folder__isnull', False), ('source', None), ('sql', ''), models.Q(('text', ''), _negated=True)), models.Q(('folder', None), ('source__isnull', False), ('text', ''), models.Q(('sql', ''), _negated=True)), _connector='OR'), name='verified_text_or_statement'),
        ),
        migrations.AddConstraint(
            model_name='verifiedanswer',
            constraint=models.UniqueConstraint(fields=('folder', 'source', 'question_key'), name='verified_answer_once', nulls_distinct=False),
        ),
        migrations.AddConstraint(
            model_name='verifiedcitation',
            constraint=models.UniqueConstraint(models.F('message'), models.F('number'), name='verified_citation_number_once'),
        ),
        migrations.AddConstraint(
            model_name='verifiedsource',
            constraint=models.CheckConstraint(condition=models.Q(('document', None), ('data_source', None), _connector='OR'), name='verified_source_of_one_kind'),
        ),
        migrations.AddConstraint(
            model_name='verifiedwording',
            constraint=models.UniqueConstraint(models.F('answer'), models.F('key'), name='verified_wording_once'),
        ),
        migrations.RunPython(take_over, give_back),
    ]
