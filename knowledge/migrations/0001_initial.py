"""Knowledge bases, folders, documents, their index, sources, graph and webhooks; the extension vector."""

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.core.validators
import django.db.models.deletion
import django.db.models.manager
import knowledge.models.documents
import pgvector.django.halfvec
import pgvector.django.sparsevec
import uuid
from django.conf import settings
from django.db import migrations, models
from pgvector.django import VectorExtension


# A row of the index is read whole by every scan; moved out of line (TOAST) it is several times slower to read.
# Packed token vectors are the opposite: read by key, and made of bits that do not compress.
KEEP_INLINE = "ALTER TABLE knowledge_chunkindex SET (toast_tuple_target = 8160)"
KEEP_APART = "ALTER TABLE knowledge_chunktokens ALTER packed SET STORAGE EXTERNAL"


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('authz', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        VectorExtension(),
        migrations.CreateModel(
            name='Document',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('filename', models.CharField(max_length=255, verbose_name='file name')),
                ('title', models.CharField(max_length=300, verbose_name='title')),
                ('language', models.CharField(blank=True, max_length=8, verbose_name='language')),
                ('metadata', models.JSONField(blank=True, default=dict, editable=False, verbose_name='fields')),
                ('withdrawn_at', models.DateTimeField(editable=False, null=True, verbose_name='withdrawn')),
                ('review_on', models.DateField(blank=True, null=True, verbose_name='to be reviewed by')),
                ('trashed_at', models.DateTimeField(editable=False, null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='changed')),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('owner', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='owner')),
                ('superseded_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='knowledge.document', verbose_name='superseded by')),
                ('trashed_by', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'document',
                'verbose_name_plural': 'documents',
                'ordering': ('filename',),
                'base_manager_name': 'unscoped',
                'default_manager_name': 'unscoped',
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='EmbeddingSpace',
            fields=[
                ('id', models.SmallAutoField(primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=200, unique=True, verbose_name='name')),
                ('dimensions', models.PositiveIntegerField(verbose_name='dimensions')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
        ),
        migrations.CreateModel(
            name='Webhook',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=100, unique=True, verbose_name='name')),
                ('url', models.CharField(max_length=500, verbose_name='address')),
                ('events', models.JSONField(default=list, verbose_name='events')),
                ('encrypted_secret', models.TextField(blank=True, editable=False)),
                ('site', models.CharField(blank=True, editable=False, max_length=300)),
                ('is_active', models.BooleanField(default=True, verbose_name='active')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
            ],
            options={
                'verbose_name': 'webhook',
                'verbose_name_plural': 'webhooks',
                'ordering': ('name',),
            },
        ),
        migrations.CreateModel(
            name='DocumentVersion',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('number', models.PositiveIntegerField(verbose_name='version')),
                ('file', models.FileField(max_length=200, upload_to=knowledge.models.documents.stored_name, verbose_name='file')),
                ('sha256', models.CharField(max_length=64)),
                ('size_bytes', models.BigIntegerField(verbose_name='size')),
                ('mime_type', models.CharField(blank=True, max_length=100, verbose_name='type')),
                ('page_count', models.PositiveIntegerField(null=True, verbose_name='pages')),
                ('parser_version', models.PositiveSmallIntegerField(default=0, editable=False)),
                ('hidden_apart', models.PositiveIntegerField(default=0, editable=False)),
                ('hidden_indexed', models.PositiveIntegerField(default=0, editable=False)),
                ('bare_pictures', models.PositiveIntegerField(default=0, editable=False)),
                ('scanned_pages', models.PositiveIntegerField(default=0, editable=False)),
                ('recognised', models.PositiveIntegerField(default=0, editable=False)),
                ('cut_as', models.CharField(blank=True, default='', editable=False, max_length=30)),
                ('parse_status', models.CharField(choices=[('pending', 'waiting'), ('processing', 'in progress'), ('completed', 'ready'), ('failed', 'failed')], db_index=True, default='pending', max_length=12, verbose_name='status')),
                ('failure', models.JSONField(editable=False, null=True, verbose_name='failure')),
                ('queue', models.CharField(default='interactive', max_length=20)),
                ('queued_at', models.DateTimeField(editable=False, null=True)),
                ('attempts', models.PositiveSmallIntegerField(default=0, verbose_name='attempts')),
                ('lease', models.UUIDField(editable=False, null=True)),
                ('lease_expires_at', models.DateTimeField(editable=False, null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='uploaded')),
                ('published_at', models.DateTimeField(null=True, verbose_name='published')),
                ('approved_at', models.DateTimeField(editable=False, null=True, verbose_name='approved')),
                ('approved_by', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('document', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='versions', to='knowledge.document')),
                ('uploaded_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'version',
                'verbose_name_plural': 'versions',
                'ordering': ('-number',),
                'base_manager_name': 'unscoped',
                'default_manager_name': 'unscoped',
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.AddField(
            model_name='document',
            name='current_version',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='knowledge.documentversion'),
        ),
        migrations.CreateModel(
            name='Folder',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=200, verbose_name='name')),
                ('kind', models.CharField(choices=[('folder', 'folder'), ('document', 'exception for one document'), ('attached', 'files of a conversation')], default='folder', editable=False, max_length=8)),
                ('inherits', models.BooleanField(default=True, editable=False, verbose_name="inherits rights")),
                ('is_discoverable', models.BooleanField(default=False, editable=False, verbose_name="its name may be shown")),
                ('chunk_count', models.IntegerField(default=0, editable=False, verbose_name='passages')),
                ('term_count', models.BigIntegerField(default=0, editable=False, verbose_name='terms')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('owner', models.ForeignKey(db_index=False, editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('parent', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='children', to='knowledge.folder', verbose_name='parent')),
            ],
            options={
                'verbose_name': 'folder',
                'verbose_name_plural': 'folders',
                'ordering': ('name',),
                'permissions': [('download_folder', 'Can download the original from folder'), ('manage_folder', 'Can manage rights on folder')],
                'base_manager_name': 'unscoped',
                'default_manager_name': 'unscoped',
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.AddField(
            model_name='document',
            name='access',
            field=models.ForeignKey(editable=False, on_delete=django.db.models.deletion.RESTRICT, related_name='+', to='knowledge.folder'),
        ),
        migrations.AddField(
            model_name='document',
            name='folder',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='knowledge.folder', verbose_name='folder'),
        ),
        migrations.AddField(
            model_name='document',
            name='trashed_from',
            field=models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='knowledge.folder'),
        ),
        migrations.CreateModel(
            name='FolderLink',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('depth', models.PositiveSmallIntegerField()),
                ('is_cut', models.BooleanField(default=False)),
                ('ancestor', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='descendant_links', to='knowledge.folder')),
                ('descendant', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='ancestor_links', to='knowledge.folder')),
            ],
        ),
        migrations.CreateModel(
            name='GraphEntity',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('key', models.CharField(max_length=200)),
                ('is_spread', models.BooleanField(default=False, editable=False)),
                ('document', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='knowledge.document')),
            ],
            options={
                'verbose_name': 'entity',
                'verbose_name_plural': 'entities',
                'base_manager_name': 'unscoped',
                'default_manager_name': 'unscoped',
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='GraphRelation',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(max_length=60, verbose_name='kind')),
                ('is_refused', models.BooleanField(default=False, editable=False)),
                ('object', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='knowledge.graphentity')),
                ('subject', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='knowledge.graphentity')),
            ],
            options={
                'verbose_name': 'relation',
                'verbose_name_plural': 'relations',
                'base_manager_name': 'unscoped',
                'default_manager_name': 'unscoped',
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='GraphMention',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('chunk_id', models.UUIDField()),
                ('kind', models.CharField(blank=True, max_length=60)),
                ('said', models.CharField(blank=True, max_length=200)),
                ('defines', models.BooleanField(default=True)),
                ('is_by_model', models.BooleanField(default=False)),
                ('document', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='knowledge.document')),
                ('entity', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='knowledge.graphentity')),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='knowledge.documentversion')),
                ('relation', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='knowledge.graphrelation')),
            ],
            options={
                'base_manager_name': 'unscoped',
                'default_manager_name': 'unscoped',
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='KnowledgeBase',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=200, unique=True, verbose_name='name')),
                ('description', models.TextField(blank=True, verbose_name='description')),
                ('is_approval_wanted', models.BooleanField(default=False, help_text=(
                    "The managers of a folder approve the versions of its documents. Until then, answers use them and "
                    "say so."
                ), verbose_name='documents are approved')),
                ('is_hidden_text_indexed', models.BooleanField(default=False, help_text=(
                    "Text that readers of the original cannot see is searched, quoted and given to the language model "
                    "like any other. Leave this off unless you trust all authors."
                ), verbose_name='hidden text answers')),
                ('recognition', models.CharField(choices=[('off', 'none'), ('bare', 'only where there is no text'), ('all', 'all, also pages that have text')], default='bare', help_text='Scanned pages, photos and pictures in documents are read on this server, some seconds each.', max_length=4, verbose_name='text in pictures')),
                ('graph', models.CharField(choices=[('off', 'none'), ('certain', 'what is certain: references, terms, codes, people and tables'), ('model', 'also what a language model reads')], default='certain', help_text='What documents name and say about it, for questions over several documents. A model costs money.', max_length=8, verbose_name='knowledge graph')),
                ('chunk_tokens', models.PositiveSmallIntegerField(blank=True, editable=False, null=True)),
                ('chunk_max_tokens', models.PositiveSmallIntegerField(blank=True, editable=False, null=True)),
                ('language', models.CharField(blank=True, choices=[('en', 'English'), ('zh', 'Chinese'), ('ja', 'Japanese'), ('ko', 'Korean')], editable=False, max_length=8, verbose_name='language')),
                ('graph_types', models.JSONField(blank=True, default=dict, editable=False)),
                ('average_terms', models.FloatField(default=250.0, editable=False)),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('org_unit', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='authz.orgunit', verbose_name='belongs to')),
            ],
            options={
                'verbose_name': 'knowledge base',
                'verbose_name_plural': 'knowledge bases',
                'ordering': ('name',),
                'permissions': [('download_knowledgebase', 'Can download the original from knowledge base'), ('manage_knowledgebase', 'Can manage rights on knowledge base')],
                'base_manager_name': 'unscoped',
                'default_manager_name': 'unscoped',
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='GraphSpending',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('month', models.DateField()),
                ('input_tokens', models.BigIntegerField(default=0)),
                ('output_tokens', models.BigIntegerField(default=0)),
                ('cost', models.DecimalField(decimal_places=6, default=0, max_digits=14)),
                ('knowledge_base', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='knowledge.knowledgebase')),
            ],
        ),
        migrations.AddField(
            model_name='graphrelation',
            name='knowledge_base',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='knowledge.knowledgebase'),
        ),
        migrations.CreateModel(
            name='GraphMerge',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('made_at', models.DateTimeField(auto_now_add=True)),
                ('made_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('one', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='knowledge.graphentity')),
                ('other', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='knowledge.graphentity')),
                ('knowledge_base', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='knowledge.knowledgebase')),
            ],
            options={
                'ordering': ('-made_at',),
            },
        ),
        migrations.AddField(
            model_name='graphentity',
            name='knowledge_base',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='knowledge.knowledgebase'),
        ),
        migrations.AddField(
            model_name='folder',
            name='knowledge_base',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='folders', to='knowledge.knowledgebase', verbose_name='knowledge base'),
        ),
        migrations.CreateModel(
            name='DocumentField',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=60, verbose_name='name')),
                ('kind', models.CharField(choices=[('text', 'text'), ('number', 'number'), ('date', 'date'), ('choice', 'one of a list')], default='text', max_length=6, verbose_name='kind')),
                ('choices', models.JSONField(default=list)),
                ('position', models.PositiveSmallIntegerField(default=0)),
                ('knowledge_base', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='knowledge.knowledgebase')),
            ],
            options={
                'verbose_name': 'field of documents',
                'verbose_name_plural': 'fields of documents',
                'ordering': ('position', 'name'),
                'base_manager_name': 'unscoped',
                'default_manager_name': 'unscoped',
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.AddField(
            model_name='document',
            name='knowledge_base',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='knowledge.knowledgebase'),
        ),
        migrations.CreateModel(
            name='ChunkTokens',
            fields=[
                ('pk', models.CompositePrimaryKey('knowledge_base_id', 'chunk_id', 'space_id', blank=True, editable=False, primary_key=True, serialize=False)),
                ('chunk_id', models.UUIDField()),
                ('packed', models.BinaryField()),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='knowledge.documentversion')),
                ('space', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='knowledge.embeddingspace')),
                ('knowledge_base', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='knowledge.knowledgebase')),
            ],
            options={
                'base_manager_name': 'unscoped',
                'default_manager_name': 'unscoped',
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='ChunkIndex',
            fields=[
                ('pk', models.CompositePrimaryKey('knowledge_base_id', 'chunk_id', 'space_id', blank=True, editable=False, primary_key=True, serialize=False)),
                ('chunk_id', models.UUIDField()),
                ('language', models.CharField(blank=True, max_length=8)),
                ('live', models.BooleanField(default=False)),
                ('term_total', models.PositiveIntegerField()),
                ('vector', pgvector.django.halfvec.HalfVectorField()),
                ('lexical', pgvector.django.sparsevec.SparseVectorField()),
                ('term_ids', django.contrib.postgres.fields.ArrayField(base_field=models.IntegerField(), size=None)),
                ('document', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='knowledge.document')),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='knowledge.documentversion')),
                ('space', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='knowledge.embeddingspace')),
                ('folder', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='knowledge.folder')),
                ('knowledge_base', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='knowledge.knowledgebase')),
            ],
            options={
                'base_manager_name': 'unscoped',
                'default_manager_name': 'unscoped',
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='Chunk',
            fields=[
                ('pk', models.CompositePrimaryKey('knowledge_base_id', 'id', blank=True, editable=False, primary_key=True, serialize=False)),
                ('id', models.UUIDField(default=uuid.uuid4, editable=False)),
                ('position', models.PositiveIntegerField()),
                ('text', models.TextField()),
                ('heading_path', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, size=None)),
                ('kind', models.CharField(max_length=16)),
                ('page_from', models.PositiveIntegerField(null=True)),
                ('page_to', models.PositiveIntegerField(null=True)),
                ('page_starts', django.contrib.postgres.fields.ArrayField(base_field=models.IntegerField(), default=list, size=None)),
                ('start', models.PositiveIntegerField()),
                ('end', models.PositiveIntegerField()),
                ('length_tokens', models.PositiveIntegerField()),
                ('is_retired', models.BooleanField(db_default=False, default=False, editable=False)),
                ('document', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='knowledge.document')),
                ('version', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='knowledge.documentversion')),
                ('knowledge_base', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='knowledge.knowledgebase')),
            ],
            options={
                'verbose_name': 'passage',
                'verbose_name_plural': 'passages',
                'ordering': ('position',),
                'base_manager_name': 'unscoped',
                'default_manager_name': 'unscoped',
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='Source',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=100, unique=True, verbose_name='name')),
                ('kind', models.CharField(max_length=30, verbose_name='kind')),
                ('settings', models.JSONField(default=dict, editable=False)),
                ('encrypted_secret', models.TextField(default='', editable=False)),
                ('encrypted_hook_secret', models.TextField(default='', editable=False)),
                ('is_active', models.BooleanField(default=True, verbose_name='is kept fresh')),
                ('every_minutes', models.PositiveIntegerField(choices=[(0, 'only by hand'), (15, 'every 15 minutes'), (60, 'every hour'), (360, 'every 6 hours'), (1440, 'every day'), (10080, 'every week')], default=1440, verbose_name='how often')),
                ('at', models.TimeField(blank=True, help_text='For a source that is read every day or week: at this time.', null=True, verbose_name='at')),
                ('quiet_from', models.TimeField(blank=True, null=True, verbose_name="quiet from")),
                ('quiet_until', models.TimeField(blank=True, help_text="No run starts during this time. Empty: any time.", null=True, verbose_name=(
                    "quiet until"
                ))),
                ('most_per_minute', models.PositiveIntegerField(default=0, help_text=(
                    "Keeps a run from slowing down the other side. 0: no limit."
                ), validators=[django.core.validators.MaxValueValidator(60000)], verbose_name='most requests a minute')),
                ('grace_hours', models.PositiveIntegerField(default=24, help_text=(
                    "What is removed at the source stays in answers for this time. 0: until the run that notices."
                ), validators=[django.core.validators.MaxValueValidator(8760)], verbose_name='hours of grace')),
                ('takes_rights', models.BooleanField(default=False, help_text=(
                    "People who can see something there can view it here, as far as the source says."
                ), verbose_name=(
                    "copy rights from the source"
                ))),
                ('state', models.JSONField(default=dict, editable=False)),
                ('next_at', models.DateTimeField(editable=False, null=True, verbose_name='next run')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('folder', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='knowledge.folder', verbose_name='folder')),
            ],
            options={
                'verbose_name': 'source of documents',
                'verbose_name_plural': 'sources of documents',
                'ordering': ('name',),
                'permissions': [('connect_source', 'Can set where sources of documents are and with which secret')],
                'base_manager_name': 'unscoped',
                'default_manager_name': 'unscoped',
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='SourceItem',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('original_id', models.CharField(max_length=1000)),
                ('path', models.CharField(max_length=1000, verbose_name='path')),
                ('title', models.CharField(blank=True, max_length=300, verbose_name='title')),
                ('version', models.CharField(blank=True, max_length=200)),
                ('sha256', models.CharField(blank=True, max_length=64)),
                ('url', models.CharField(blank=True, max_length=2048, verbose_name='address')),
                ('author', models.CharField(blank=True, max_length=200, verbose_name='author')),
                ('modified_at', models.DateTimeField(null=True, verbose_name='changed there')),
                ('sections', models.JSONField(default=list)),
                ('memory', models.JSONField(default=dict)),
                ('read_at', models.DateTimeField(null=True, verbose_name='read')),
                ('checked_at', models.DateTimeField(null=True)),
                ('gone_at', models.DateTimeField(null=True, verbose_name='gone since')),
                ('failure', models.CharField(blank=True, max_length=500, verbose_name='why it failed')),
                ('is_left_out', models.BooleanField(default=False, editable=False)),
                ('document', models.OneToOneField(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='knowledge.document')),
                ('source', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='knowledge.source')),
            ],
            options={
                'verbose_name': 'page of a source',
                'verbose_name_plural': 'pages of sources',
                'ordering': ('path',),
                'base_manager_name': 'unscoped',
                'default_manager_name': 'unscoped',
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='SourceRun',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('trigger', models.CharField(choices=[('hand', 'by hand'), ('schedule', 'by schedule'), ('webhook', 'by webhook')], max_length=10, verbose_name=(
                    "started by"
                ))),
                ('state', models.CharField(choices=[('running', 'running'), ('done', 'done'), ('partial', 'done in part'), ('failed', 'failed')], default='running', max_length=10, verbose_name='state')),
                ('lease_expires_at', models.DateTimeField(null=True)),
                ('started_at', models.DateTimeField(auto_now_add=True, verbose_name='from')),
                ('finished_at', models.DateTimeField(null=True, verbose_name='until')),
                ('seen', models.PositiveIntegerField(default=0, verbose_name='found')),
                ('added', models.PositiveIntegerField(default=0, verbose_name='new')),
                ('changed', models.PositiveIntegerField(default=0, verbose_name='changed')),
                ('moved', models.PositiveIntegerField(default=0, verbose_name='moved')),
                ('unchanged', models.PositiveIntegerField(default=0, verbose_name='as before')),
                ('withdrawn', models.PositiveIntegerField(default=0, verbose_name='withdrawn')),
                ('failed', models.PositiveIntegerField(default=0, verbose_name='failed')),
                ('problem', models.CharField(blank=True, max_length=500, verbose_name='reason')),
                ('problems', models.JSONField(default=list)),
                ('source', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='runs', to='knowledge.source')),
            ],
            options={
                'verbose_name': 'run of a source',
                'verbose_name_plural': 'runs of sources',
                'ordering': ('-started_at',),
            },
        ),
        migrations.CreateModel(
            name='Stage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(choices=[('parse', 'read'), ('chunk', 'split'), ('embed', 'index'), ('publish', 'publish')], max_length=8)),
                ('position', models.PositiveSmallIntegerField()),
                ('status', models.CharField(choices=[('pending', 'waiting'), ('running', 'running'), ('done', 'done'), ('failed', 'failed')], default='pending', max_length=8)),
                ('items_done', models.PositiveIntegerField(default=0)),
                ('items_total', models.PositiveIntegerField(null=True)),
                ('started_at', models.DateTimeField(null=True)),
                ('finished_at', models.DateTimeField(null=True)),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='stages', to='knowledge.documentversion')),
            ],
            options={
                'ordering': ('position',),
            },
        ),
        migrations.CreateModel(
            name='TermFrequency',
            fields=[
                ('pk', models.CompositePrimaryKey('knowledge_base_id', 'term_id', blank=True, editable=False, primary_key=True, serialize=False)),
                ('term_id', models.IntegerField()),
                ('chunks', models.IntegerField()),
                ('knowledge_base', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='knowledge.knowledgebase')),
            ],
            options={
                'base_manager_name': 'unscoped',
                'default_manager_name': 'unscoped',
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='WebhookDelivery',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('event', models.CharField(choices=[('document.ready', 'a document is ready'), ('document.failed', 'a document could not be read'), ('source.ended', 'a source of documents was read'), ('access.asked', (
                    "someone asks for access"
                )), ('answer.rated_down', 'an answer did not help'), ('ping', 'a test')], max_length=20, verbose_name='event')),
                ('payload', models.JSONField(verbose_name="what is sent")),
                ('state', models.CharField(choices=[('waiting', 'waiting'), ('sent', 'sent'), ('failed', 'failed')], default='waiting', max_length=7, verbose_name='state')),
                ('attempts', models.PositiveSmallIntegerField(default=0, verbose_name='attempts')),
                ('status', models.PositiveSmallIntegerField(null=True, verbose_name='HTTP status')),
                ('problem', models.CharField(blank=True, max_length=300, verbose_name='problem')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='happened')),
                ('next_at', models.DateTimeField(verbose_name='next attempt')),
                ('sent_at', models.DateTimeField(null=True, verbose_name='sent')),
                ('webhook', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='knowledge.webhook', verbose_name='webhook')),
            ],
            options={
                'verbose_name': 'delivery of a webhook',
                'verbose_name_plural': 'deliveries of webhooks',
                'ordering': ('-created_at', 'pk'),
            },
        ),
        migrations.CreateModel(
            name='GraphReading',
            fields=[
                ('document', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='+', serialize=False, to='knowledge.document')),
                ('by_model', models.BooleanField(default=False)),
                ('problem', models.CharField(blank=True, max_length=200)),
                ('read_at', models.DateTimeField(auto_now=True)),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='knowledge.documentversion')),
            ],
        ),
        migrations.AddConstraint(
            model_name='documentversion',
            constraint=models.UniqueConstraint(models.F('document'), models.F('number'), name='version_number_once'),
        ),
        migrations.AddConstraint(
            model_name='folderlink',
            constraint=models.UniqueConstraint(fields=('ancestor', 'descendant'), include=('is_cut',), name='folder_link_once'),
        ),
        migrations.AddIndex(
            model_name='graphmention',
            index=models.Index(models.F('chunk_id'), name='graph_mentions_of_passage'),
        ),
        migrations.AddConstraint(
            model_name='graphmention',
            constraint=models.UniqueConstraint(models.F('entity'), models.F('chunk_id'), condition=models.Q(('relation', None)), name='graph_entity_once_in_passage'),
        ),
        migrations.AddConstraint(
            model_name='graphmention',
            constraint=models.UniqueConstraint(models.F('relation'), models.F('chunk_id'), condition=models.Q(('entity', None)), name='graph_relation_once_in_passage'),
        ),
        migrations.AddConstraint(
            model_name='graphmention',
            constraint=models.CheckConstraint(condition=models.Q(('entity', None), ('relation', None), _connector='XOR'), name='graph_mention_of_an_entity_or_a_relation'),
        ),
        migrations.AddConstraint(
            model_name='graphspending',
            constraint=models.UniqueConstraint(models.F('knowledge_base'), models.F('month'), name='graph_spending_once'),
        ),
        migrations.AddConstraint(
            model_name='graphrelation',
            constraint=models.UniqueConstraint(models.F('subject'), models.F('object'), models.F('kind'), name='graph_relation_once'),
        ),
        migrations.AddConstraint(
            model_name='graphmerge',
            constraint=models.UniqueConstraint(models.F('one'), models.F('other'), name='graph_merge_once'),
        ),
        migrations.AddConstraint(
            model_name='graphentity',
            constraint=models.UniqueConstraint(models.F('key'), models.F('knowledge_base'), models.F('document'), name='graph_entity_once', nulls_distinct=False),
        ),
        migrations.AddConstraint(
            model_name='folder',
            constraint=models.UniqueConstraint(condition=models.Q(('kind', 'folder')), fields=('parent', 'name'), name='folder_name_once_in_parent'),
        ),
        migrations.AddConstraint(
            model_name='folder',
            constraint=models.UniqueConstraint(models.F('knowledge_base'), condition=models.Q(('parent', None)), name='one_root_folder_in_knowledge_base'),
        ),
        migrations.AddConstraint(
            model_name='documentfield',
            constraint=models.UniqueConstraint(models.F('knowledge_base'), models.F('name'), name='field_once_in_base'),
        ),
        migrations.AddIndex(
            model_name='document',
            index=models.Index(models.F('knowledge_base'), models.F('folder'), name='document_place'),
        ),
        migrations.AddIndex(
            model_name='document',
            index=models.Index(models.F('knowledge_base'), condition=models.Q(('access', models.F('folder')), _negated=True), name='document_beside'),
        ),
        migrations.AddIndex(
            model_name='document',
            index=django.contrib.postgres.indexes.GinIndex(fields=['metadata'], name='document_metadata', opclasses=['jsonb_path_ops']),
        ),
        migrations.AddIndex(
            model_name='document',
            index=models.Index(models.F('trashed_from'), condition=models.Q(('trashed_at__isnull', False)), name='document_in_trash'),
        ),
        migrations.AddConstraint(
            model_name='document',
            constraint=models.UniqueConstraint(models.F('access'), models.F('filename'), name='file_name_once_in_place'),
        ),
        migrations.AddIndex(
            model_name='chunkindex',
            index=models.Index(models.F('folder'), models.F('space'), name='chunks_of_folder'),
        ),
        migrations.AddIndex(
            model_name='chunk',
            index=models.Index(models.F('version'), models.F('position'), name='chunk_in_version'),
        ),
        migrations.AddConstraint(
            model_name='sourceitem',
            constraint=models.UniqueConstraint(models.F('source'), models.F('original_id'), name='item_once_in_source'),
        ),
        migrations.AddConstraint(
            model_name='sourcerun',
            constraint=models.UniqueConstraint(models.F('source'), condition=models.Q(('state', 'running')), name='one_running_run_of_a_source'),
        ),
        migrations.AddConstraint(
            model_name='stage',
            constraint=models.UniqueConstraint(models.F('version'), models.F('name'), name='stage_once_in_version'),
        ),
        migrations.AddIndex(
            model_name='webhookdelivery',
            index=models.Index(models.F('next_at'), condition=models.Q(('state', 'waiting')), name='delivery_waiting'),
        ),
        migrations.AddIndex(
            model_name='webhookdelivery',
            index=models.Index(models.F('created_at'), name='delivery_age'),
        ),
        migrations.RunSQL(KEEP_INLINE),
        migrations.RunSQL(KEEP_APART),
    ]
