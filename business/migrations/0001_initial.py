"""Data sources, rights on them, drafts of layers, saved and confirmed questions."""

import business.models
import django.contrib.postgres.fields
import django.core.validators
import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.manager
import django.utils.timezone
import pgvector.django.halfvec
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
        ('knowledge', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='DataSource',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.SlugField(unique=True, verbose_name='name')),
                ('engine', models.CharField(choices=[('postgresql', 'PostgreSQL'), ('mysql', 'MySQL, MariaDB')], default='postgresql', max_length=10, verbose_name='kind of database')),
                ('host', models.CharField(blank=True, max_length=255, verbose_name='host')),
                ('port', models.PositiveIntegerField(default=5432, verbose_name='port')),
                ('database', models.CharField(max_length=63, verbose_name='database')),
                ('username', models.CharField(blank=True, max_length=63, verbose_name='account')),
                ('tls', models.CharField(choices=[('verify-full', "encrypted, server verified by a certificate"), ('require', (
                    "encrypted, server not verified"
                )), ('disable', 'clear text')], default='verify-full', max_length=11, verbose_name='encryption')),
                ('encrypted_password', models.BinaryField(default=b'')),
                ('is_dedicated', models.BooleanField(default=False, verbose_name='holds only business data')),
                ('schemas', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=63), default=business.models.public_schema, help_text='Names by comma. The semantic layer can only name tables and views of these.', size=None, verbose_name='schemas')),
                ('max_seconds', models.FloatField(blank=True, default=10, help_text='What takes longer is stopped in the database. Empty: 10.', validators=[django.core.validators.MinValueValidator(0.1), django.core.validators.MaxValueValidator(300)], verbose_name='seconds for a question')),
                ('max_rows', models.PositiveSmallIntegerField(blank=True, default=50, help_text='At most 50, which is what empty means.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(50)], verbose_name='rows of an answer')),
                ('max_gathered_mb', models.PositiveSmallIntegerField(blank=True, default=64, help_text='Estimated before the query runs: making one long list or text cannot be stopped. Empty: 64.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(1000)], verbose_name='megabytes in one value')),
                ('kept_minutes', models.PositiveSmallIntegerField(blank=True, default=0, help_text='For the same person under the same rights. Empty or 0: each question reads the database.', validators=[django.core.validators.MaxValueValidator(60)], verbose_name='minutes that a result is kept')),
                ('is_embedded', models.BooleanField(default=False, editable=False)),
                ('drafted_version', models.UUIDField(editable=False, null=True)),
                ('is_active', models.BooleanField(default=True, verbose_name='may be asked')),
                ('layer', models.JSONField(default=dict, editable=False)),
                ('changed_at', models.DateTimeField(auto_now=True, verbose_name='changed')),
                ('document', models.OneToOneField(editable=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='knowledge.document')),
            ],
            options={
                'verbose_name': 'data source',
                'verbose_name_plural': 'data sources',
                'ordering': ('name',),
                'permissions': [('change_connection', 'Can set the address, account and schemas of data sources')],
                'base_manager_name': 'unscoped',
                'default_manager_name': 'unscoped',
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='LayerDraft',
            fields=[
                ('source', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='+', serialize=False, to='business.datasource')),
                ('attempt', models.UUIDField(default=uuid.uuid4)),
                ('started_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('alive_at', models.DateTimeField(null=True)),
                ('ended_at', models.DateTimeField(null=True)),
                ('done', models.PositiveIntegerField(default=0)),
                ('count', models.PositiveIntegerField(default=0)),
                ('table', models.CharField(blank=True, max_length=63)),
                ('problem', models.CharField(blank=True, max_length=500)),
                ('unread', models.JSONField(default=list)),
                ('layer', models.JSONField(default=dict)),
            ],
        ),
        migrations.CreateModel(
            name='ConfirmedPair',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('question', models.TextField()),
                ('question_sha256', models.CharField(max_length=64)),
                ('sql', models.TextField()),
                ('confirmed_at', models.DateTimeField(auto_now=True)),
                ('confirmed_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('source', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='business.datasource')),
            ],
            options={
                'verbose_name': 'confirmed answer',
                'verbose_name_plural': 'confirmed answers',
                'ordering': ('-confirmed_at', 'id'),
                'constraints': [models.UniqueConstraint(models.F('source'), models.F('question_sha256'), name='confirmed_pair_once')],
            },
        ),
        migrations.CreateModel(
            name='SavedQuery',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=100, verbose_name='name')),
                ('query', models.JSONField()),
                ('is_shared', models.BooleanField(default=False, verbose_name='shared')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('source', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='business.datasource')),
            ],
            options={
                'verbose_name': 'saved question',
                'verbose_name_plural': 'saved questions',
                'ordering': ('name', 'created_at', 'id'),
                'base_manager_name': 'unscoped',
                'default_manager_name': 'unscoped',
                'constraints': [models.UniqueConstraint(models.F('source'), models.F('owner'), models.F('name'), name='saved_query_once')],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='SchemaVector',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('model', models.CharField(max_length=63)),
                ('kind', models.CharField(max_length=9)),
                ('part', models.CharField(blank=True, max_length=63)),
                ('sha256', models.BinaryField()),
                ('vector', pgvector.django.halfvec.HalfVectorField()),
                ('source', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='business.datasource')),
                ('space', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='knowledge.embeddingspace')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('source', 'space', 'model', 'kind', 'part'), name='schema_vector_once')],
            },
        ),
        migrations.CreateModel(
            name='SourceGrant',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('table', models.CharField(blank=True, help_text='Empty: the whole source.', max_length=63, verbose_name='table')),
                ('right', models.CharField(choices=[('view', 'view (may be answered from)'), ('manage', 'manage rights')], default='view', max_length=10, verbose_name='right')),
                ('expires_at', models.DateTimeField(blank=True, null=True, verbose_name='ends')),
                ('granted_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False, verbose_name='since')),
                ('group', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='auth.group', verbose_name='group')),
                ('source', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='grants', to='business.datasource')),
                ('user', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='user')),
            ],
            options={
                'verbose_name': 'right on a data source',
                'verbose_name_plural': 'rights on data sources',
                'constraints': [models.CheckConstraint(condition=models.Q(('user', None), ('group', None), _connector='XOR'), name='source_grant_to_a_person_or_a_group'), models.UniqueConstraint(fields=('source', 'table', 'user', 'group', 'right'), name='source_grant_once', nulls_distinct=False)],
            },
        ),
    ]
