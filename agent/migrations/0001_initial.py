"""Conversations, assistants, models, tools, skills, question sets, bots."""

import agent.models.profiles
import agent.models.web_search
import django.contrib.postgres.fields
import django.core.validators
import django.db.models.deletion
import django.utils.timezone
import uuid
from decimal import Decimal
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
            name='ChatBot',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('platform', models.CharField(max_length=40, verbose_name='platform')),
                ('name', models.CharField(max_length=80, unique=True, verbose_name='name')),
                ('base_url', models.CharField(default='https://open.feishu.cn', help_text='Of its open API: https://open.feishu.cn, or https://open.larksuite.com for Lark.', max_length=300, validators=[django.core.validators.URLValidator(schemes=['http', 'https'])], verbose_name='address')),
                ('app_id', models.CharField(max_length=80, validators=[django.core.validators.RegexValidator('^[\\w-]+$')], verbose_name='App ID')),
                ('encrypted_secrets', models.TextField(blank=True, editable=False)),
                ('bot_id', models.CharField(blank=True, editable=False, max_length=128)),
                ('takes_contact_mail', models.BooleanField(default=False, help_text=(
                    "People are recognised by the company mail address the platform gives them. Tick this only if it "
                    "gives none and people cannot change their own contact data; otherwise someone could get another "
                    "person's answers."
                ), verbose_name='mail addresses from contact data count')),
                ('whom_to_ask', models.CharField(blank=True, help_text=(
                    "Shown to people without an account here. Empty: their administrator."
                ), max_length=200, verbose_name='whom to ask')),
                ('is_active', models.BooleanField(default=False, help_text="It is tested before it is enabled.", verbose_name='active')),
                ('site', models.CharField(editable=False, max_length=300)),
            ],
            options={
                'verbose_name': 'bot in a chat platform',
                'verbose_name_plural': 'bots in chat platforms',
                'ordering': ('name',),
            },
        ),
        migrations.CreateModel(
            name='McpService',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=24, unique=True, validators=[django.core.validators.RegexValidator('^[a-z][a-z0-9-]{0,23}$', 'Small letters, digits and hyphens, at most 24.')], verbose_name='name')),
                ('transport', models.CharField(choices=[('http', 'streamable HTTP'), ('sse', 'HTTP with server-sent events (older services)'), ('local', "a command from the server's file")], default='http', max_length=8, verbose_name='way')),
                ('url', models.CharField(blank=True, help_text='https://…/mcp', max_length=300, verbose_name='address')),
                ('header_name', models.CharField(default='Authorization', max_length=60, validators=[django.core.validators.RegexValidator('^[A-Za-z0-9-]+$')], verbose_name='header of the key')),
                ('oauth_grant', models.CharField(choices=[('client_credentials', 'this site asks for them as itself (client credentials)'), ('authorization_code', 'an administrator signs in (authorization code)')], default='client_credentials', max_length=24, verbose_name='tokens (OAuth)')),
                ('oauth_issuer', models.CharField(blank=True, help_text='https://… of who gives this site tokens for the service. Empty: the key stands in its header; where an administrator signs in, the service names the issuer.', max_length=300, verbose_name='issuer of tokens')),
                ('oauth_client_id', models.CharField(blank=True, help_text='What the issuer calls this site; the key below is its secret. Empty, where an administrator signs in: this site registers itself.', max_length=200, verbose_name='client id')),
                ('oauth_scope', models.CharField(blank=True, help_text='By spaces; empty: what the service asks for.', max_length=300, verbose_name='scopes')),
                ('encrypted_secret', models.TextField(blank=True, editable=False)),
                ('encrypted_sign_in', models.TextField(blank=True, editable=False)),
                ('signed_in_at', models.DateTimeField(editable=False, null=True, verbose_name='signed in')),
                ('tools', models.JSONField(default=list, editable=False)),
                ('allowed_tools', models.JSONField(blank=True, default=list, verbose_name='allowed tools')),
                ('unasked_tools', models.JSONField(blank=True, default=list, verbose_name='tools that run without asking')),
                ('is_enabled', models.BooleanField(default=True, verbose_name='enabled')),
                ('read_at', models.DateTimeField(editable=False, null=True, verbose_name='tools read')),
            ],
            options={
                'verbose_name': 'service with tools (MCP)',
                'verbose_name_plural': 'services with tools (MCP)',
                'ordering': ('name',),
            },
        ),
        migrations.CreateModel(
            name='QuestionSet',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=80, unique=True, verbose_name='name')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'verbose_name': 'evaluation set',
                'verbose_name_plural': 'evaluation sets',
                'ordering': ('name',),
            },
        ),
        migrations.CreateModel(
            name='WebHost',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('entry', models.CharField(help_text='example.com, or *.example.com for all below it.', max_length=253, unique=True, validators=[agent.models.web_search.check_host], verbose_name='host')),
                ('is_allowed', models.BooleanField(default=True, help_text=(
                    "Not ticked: forbidden, even if others are allowed. If any host is allowed, only allowed hosts are "
                    "read."
                ), verbose_name='allowed')),
                ('note', models.CharField(blank=True, max_length=200, verbose_name='note')),
            ],
            options={
                'verbose_name': 'host of the web',
                'verbose_name_plural': 'hosts of the web',
                'ordering': ('entry',),
            },
        ),
        migrations.CreateModel(
            name='LanguageModel',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=80, unique=True, verbose_name='name')),
                ('base_url', models.CharField(help_text='https://…/v1', max_length=300, validators=[django.core.validators.URLValidator(schemes=['http', 'https'])], verbose_name='address')),
                ('model', models.CharField(help_text="The name the service uses.", max_length=200, verbose_name='model')),
                ('encrypted_key', models.TextField(blank=True, editable=False)),
                ('context_tokens', models.PositiveIntegerField(default=32000, help_text="How many tokens fit.", validators=[django.core.validators.MinValueValidator(2000)], verbose_name='context')),
                ('price_input', models.DecimalField(decimal_places=4, default=Decimal('0'), help_text="Per million tokens.", max_digits=12, verbose_name='price of input')),
                ('price_output', models.DecimalField(decimal_places=4, default=Decimal('0'), help_text="Per million tokens.", max_digits=12, verbose_name='price of output')),
                ('is_default', models.BooleanField(default=False, verbose_name='default')),
                ('is_enabled', models.BooleanField(default=True, verbose_name='enabled')),
            ],
            options={
                'verbose_name': 'language model',
                'verbose_name_plural': 'language models',
                'ordering': ('name',),
                'constraints': [models.UniqueConstraint(models.F('is_default'), condition=models.Q(('is_default', True)), name='one_default_language_model')],
            },
        ),
        migrations.CreateModel(
            name='AgentProfile',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=80, unique=True, verbose_name='name')),
                ('description', models.CharField(blank=True, max_length=300, verbose_name='description')),
                ('icon', models.CharField(choices=[('chat', 'speech bubble'), ('person', 'person'), ('library', 'books'), ('chart', 'chart'), ('settings', 'controls'), ('key', 'key'), ('file', 'document')], default='chat', max_length=10, verbose_name='icon')),
                ('tone', models.CharField(blank=True, choices=[('brief', 'brief'), ('friendly', 'friendly'), ('formal', 'formal')], help_text='How a language model writes. Quotations from documents stay as they are.', max_length=10, verbose_name='tone')),
                ('questions_en', models.TextField(blank=True, help_text="One per line, at most six.", max_length=2000, verbose_name='opening questions, English')),
                ('questions_zh', models.TextField(blank=True, help_text="One per line, at most six.", max_length=2000, verbose_name='opening questions, Chinese')),
                ('allowed_tools', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=60), blank=True, help_text=(
                    "Names separated by commas. Empty: the default tools."
                ), null=True, size=None, validators=[agent.models.profiles.check_tools], verbose_name='allowed tools')),
                ('is_strict', models.BooleanField(default=False, help_text=(
                    "Otherwise sentences that could not be checked against their source are shown with a mark."
                ), verbose_name='shows checked sentences only')),
                ('asks_before_web', models.BooleanField(default=False, help_text=(
                    "People see the exact words and allow each web search. The service can require this everywhere."
                ), verbose_name='ask before a question leaves')),
                ('uses_tools', models.BooleanField(default=True, help_text="Otherwise it searches once, then writes.", verbose_name='chooses tools itself')),
                ('most_steps', models.PositiveSmallIntegerField(blank=True, null=True, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(50)], verbose_name='most steps')),
                ('most_tool_calls', models.PositiveSmallIntegerField(blank=True, null=True, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(100)], verbose_name='most tool calls')),
                ('most_tokens', models.PositiveIntegerField(blank=True, null=True, validators=[django.core.validators.MinValueValidator(1000)], verbose_name='most tokens')),
                ('most_seconds', models.PositiveSmallIntegerField(blank=True, null=True, validators=[django.core.validators.MinValueValidator(5), django.core.validators.MaxValueValidator(900)], verbose_name='most seconds')),
                ('most_cost', models.DecimalField(blank=True, decimal_places=4, max_digits=12, null=True, verbose_name='most cost')),
                ('is_default', models.BooleanField(default=False, verbose_name='default')),
                ('groups', models.ManyToManyField(blank=True, help_text=(
                    "People of these groups and units, and of the units below. Empty: everyone."
                ), related_name='+', to='auth.group', verbose_name=(
                    "who can use it"
                ))),
                ('knowledge_bases', models.ManyToManyField(blank=True, help_text=(
                    "Limits where it searches; it never shows anyone more. Empty: everything the person can read."
                ), related_name='+', to='knowledge.knowledgebase', verbose_name='knowledge bases')),
                ('judge', models.ForeignKey(blank=True, help_text='The model that compares sentences with their sources; empty: the one that writes.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='agent.languagemodel', verbose_name='judge of sentences')),
                ('language_model', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='agent.languagemodel', verbose_name='language model')),
            ],
            options={
                'verbose_name': 'assistant',
                'verbose_name_plural': 'assistants',
                'ordering': ('name',),
            },
        ),
        migrations.CreateModel(
            name='Message',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('role', models.CharField(choices=[('user', 'question'), ('assistant', 'answer')], max_length=10)),
                ('content', models.TextField(blank=True)),
                ('sentences', models.JSONField(default=list)),
                ('stop_reason', models.CharField(blank=True, choices=[('ok', 'answered'), ('need_clarify', 'asked back'), ('not_confirmed', 'found, not confirmed'), ('no_evidence', 'nothing found'), ('permission_denied', 'no access'), ('tool_error', 'a tool failed'), ('cancelled', 'stopped'), ('budget_exhausted', 'a limit was reached'), ('refused', 'refused')], max_length=20)),
                ('is_complete', models.BooleanField(default=True)),
                ('provider', models.CharField(blank=True, max_length=80)),
                ('state', models.JSONField(default=dict)),
                ('notice', models.TextField(blank=True)),
                ('prompts', models.JSONField(default=dict)),
                ('duration_ms', models.PositiveIntegerField(null=True)),
                ('rating', models.CharField(blank=True, choices=[('helpful', 'helpful'), ('not_helpful', 'not helpful')], max_length=20, verbose_name='rating')),
                ('fault', models.CharField(blank=True, choices=[('wrong', 'wrong'), ('outdated', 'outdated'), ('incomplete', 'incomplete'), ('not_to_be_shown', 'should not be shown')], max_length=20, verbose_name=(
                    "what is wrong"
                ))),
                ('comment', models.TextField(blank=True, verbose_name='comment')),
                ('is_shown_to_keepers', models.BooleanField(default=False, editable=False)),
                ('attachments', models.JSONField(default=list, editable=False)),
                ('asked_key', models.CharField(blank=True, editable=False, max_length=64)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('parent', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='agent.message')),
            ],
            options={
                'verbose_name': 'message',
                'verbose_name_plural': 'messages',
                'ordering': ('created_at', 'id'),
            },
        ),
        migrations.CreateModel(
            name='MadeFile',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=120)),
                ('size_bytes', models.PositiveIntegerField()),
                ('content', models.BinaryField()),
                ('grounds', models.JSONField(default=list)),
                ('created_at', models.DateTimeField(auto_now_add=True, db_index=True)),
                ('message', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='agent.message')),
            ],
            options={
                'ordering': ('created_at', 'name'),
            },
        ),
        migrations.CreateModel(
            name='Citation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField()),
                ('evidence_id', models.CharField(max_length=200)),
                ('knowledge_base_id', models.UUIDField()),
                ('document_id', models.UUIDField()),
                ('version_id', models.UUIDField()),
                ('chunk_id', models.UUIDField()),
                ('start', models.PositiveIntegerField()),
                ('end', models.PositiveIntegerField()),
                ('score', models.FloatField()),
                ('text_hash', models.CharField(max_length=64)),
                ('message', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='citations', to='agent.message')),
            ],
            options={
                'ordering': ('number',),
            },
        ),
        migrations.CreateModel(
            name='QueryCitation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField()),
                ('evidence_id', models.CharField(max_length=200)),
                ('source', models.CharField(max_length=100)),
                ('title', models.CharField(blank=True, max_length=300)),
                ('text_hash', models.CharField(max_length=64)),
                ('perm_snapshot_id', models.CharField(blank=True, max_length=100)),
                ('result', models.JSONField(null=True)),
                ('message', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='queries', to='agent.message')),
            ],
            options={
                'ordering': ('number',),
            },
        ),
        migrations.CreateModel(
            name='Case',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('question', models.TextField(verbose_name='question')),
                ('is_answerable', models.BooleanField(null=True, verbose_name='has an answer')),
                ('answers', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, size=None)),
                ('documents', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, size=None)),
                ('forbidden', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, size=None)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('person', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='asked as')),
                ('message', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='agent.message')),
                ('question_set', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='cases', to='agent.questionset')),
            ],
            options={
                'ordering': ('created_at', 'id'),
            },
        ),
        migrations.CreateModel(
            name='Session',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('title', models.CharField(blank=True, max_length=200, verbose_name='title')),
                ('label', models.CharField(blank=True, max_length=40, verbose_name='label')),
                ('is_pinned', models.BooleanField(default=False, verbose_name='pinned')),
                ('is_archived', models.BooleanField(default=False, verbose_name='archived')),
                ('within', models.UUIDField(editable=False, null=True)),
                ('scope', models.JSONField(default=dict, editable=False)),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='changed')),
                ('profile', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='agent.agentprofile')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'conversation',
                'verbose_name_plural': 'conversations',
                'ordering': ('-updated_at',),
            },
        ),
        migrations.AddField(
            model_name='message',
            name='session',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='messages', to='agent.session'),
        ),
        migrations.CreateModel(
            name='ChatMessage',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('event_id', models.CharField(max_length=128)),
                ('chat_id', models.CharField(max_length=128)),
                ('message_id', models.CharField(max_length=128)),
                ('sender_id', models.CharField(max_length=128)),
                ('is_group', models.BooleanField()),
                ('is_outside', models.BooleanField()),
                ('text', models.TextField(null=True)),
                ('begins_anew', models.BooleanField(default=False)),
                ('answer_id', models.UUIDField(null=True)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('claimed_at', models.DateTimeField(null=True)),
                ('answered_at', models.DateTimeField(null=True)),
                ('problem', models.CharField(blank=True, max_length=300)),
                ('received_at', models.DateTimeField(auto_now_add=True)),
                ('bot', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='messages', to='agent.chatbot')),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('session', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='agent.session')),
            ],
            options={
                'verbose_name': 'message to a bot',
                'verbose_name_plural': 'messages to bots',
                'ordering': ('-received_at', 'id'),
            },
        ),
        migrations.CreateModel(
            name='SetRun',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('language', models.CharField(default='en', max_length=10)),
                ('started_at', models.DateTimeField(auto_now_add=True)),
                ('queued_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('stopped_at', models.DateTimeField(null=True)),
                ('ended_at', models.DateTimeField(null=True)),
                ('profile', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='agent.agentprofile')),
                ('question_set', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='runs', to='agent.questionset')),
                ('started_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('-started_at',),
            },
        ),
        migrations.CreateModel(
            name='CaseResult',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('question', models.TextField()),
                ('claimed_at', models.DateTimeField(null=True)),
                ('done_at', models.DateTimeField(null=True)),
                ('stop_reason', models.CharField(blank=True, choices=[('ok', 'answered'), ('need_clarify', 'asked back'), ('not_confirmed', 'found, not confirmed'), ('no_evidence', 'nothing found'), ('permission_denied', 'no access'), ('tool_error', 'a tool failed'), ('cancelled', 'stopped'), ('budget_exhausted', 'a limit was reached'), ('refused', 'refused')], max_length=20)),
                ('fault', models.CharField(blank=True, choices=[('not_answered', 'not answered'), ('answered', 'answered, though there is no answer'), ('other_words', 'does not say it'), ('other_document', 'cites another document'), ('failed', 'failed')], max_length=20)),
                ('leaks', models.PositiveSmallIntegerField(default=0)),
                ('cost', models.DecimalField(decimal_places=6, default=Decimal('0'), max_digits=16)),
                ('duration_ms', models.PositiveIntegerField(default=0)),
                ('case', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='results', to='agent.case')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='results', to='agent.setrun')),
            ],
            options={
                'ordering': ('case__created_at', 'case_id'),
            },
        ),
        migrations.CreateModel(
            name='Share',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('last', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='agent.message')),
                ('session', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='shares', to='agent.session')),
            ],
            options={
                'verbose_name': 'shared conversation',
                'verbose_name_plural': 'shared conversations',
            },
        ),
        migrations.CreateModel(
            name='Skill',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=64, unique=True, verbose_name='name')),
                ('profiles', models.ManyToManyField(blank=True, related_name='+', to='agent.agentprofile', verbose_name='assistants')),
            ],
            options={
                'verbose_name': 'skill',
                'verbose_name_plural': 'skills',
                'ordering': ('name',),
                'permissions': [('review_skill', 'Can review skills and switch them on')],
            },
        ),
        migrations.CreateModel(
            name='SkillVersion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('description', models.CharField(max_length=1024)),
                ('instructions', models.TextField()),
                ('archive', models.BinaryField()),
                ('sha256', models.CharField(max_length=64)),
                ('paths', models.JSONField(default=dict)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('verdict', models.CharField(choices=[('waiting', 'waits for a review'), ('approved', 'approved'), ('refused', 'refused')], default='waiting', max_length=10)),
                ('reviewed_at', models.DateTimeField(null=True)),
                ('by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('reviewed_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('skill', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='versions', to='agent.skill')),
            ],
            options={
                'ordering': ('-number',),
            },
        ),
        migrations.AddField(
            model_name='skill',
            name='in_use',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='agent.skillversion'),
        ),
        migrations.CreateModel(
            name='ToolApproval',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('tool', models.CharField(max_length=80)),
                ('title', models.CharField(max_length=200)),
                ('arguments', models.JSONField()),
                ('question', models.TextField()),
                ('scope', models.JSONField(default=dict)),
                ('profile', models.CharField(blank=True, max_length=80)),
                ('language', models.CharField(max_length=10)),
                ('state', models.CharField(choices=[('pending', 'waits for you'), ('allowed', 'allowed'), ('refused', 'not allowed'), ('used', 'done')], default='pending', max_length=10)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('decided_at', models.DateTimeField(null=True)),
                ('message', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='agent.message')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('created_at',),
            },
        ),
        migrations.CreateModel(
            name='WebCitation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField()),
                ('evidence_id', models.CharField(max_length=200)),
                ('url', models.TextField()),
                ('title', models.CharField(max_length=300)),
                ('snippet', models.TextField()),
                ('read_at', models.DateTimeField()),
                ('text_hash', models.CharField(max_length=64)),
                ('message', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='pages', to='agent.message')),
            ],
            options={
                'ordering': ('number',),
            },
        ),
        migrations.CreateModel(
            name='WebSearchProvider',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=80, unique=True, verbose_name='name')),
                ('kind', models.CharField(max_length=40, verbose_name='kind')),
                ('base_url', models.CharField(max_length=300, validators=[django.core.validators.URLValidator(schemes=['http', 'https'])], verbose_name='address')),
                ('encrypted_key', models.TextField(blank=True, editable=False)),
                ('most_results', models.PositiveSmallIntegerField(default=5, help_text='Of one search.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(10)], verbose_name='most results')),
                ('is_used', models.BooleanField(default=False, help_text="At most one is used.", verbose_name='used')),
                ('asks_first', models.BooleanField(default=False, help_text=(
                    "People see the exact words and allow each search before they leave the company."
                ), verbose_name='ask before a question leaves')),
            ],
            options={
                'verbose_name': 'search of the web',
                'verbose_name_plural': 'searches of the web',
                'ordering': ('name',),
                'constraints': [models.UniqueConstraint(models.F('is_used'), condition=models.Q(('is_used', True)), name='one_web_search_used')],
            },
        ),
        migrations.CreateModel(
            name='DayOfUse',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('day', models.DateField(verbose_name='day')),
                ('runs', models.PositiveIntegerField(default=0, verbose_name='questions')),
                ('input_tokens', models.BigIntegerField(default=0, verbose_name='tokens sent')),
                ('output_tokens', models.BigIntegerField(default=0, verbose_name='tokens received')),
                ('cost', models.DecimalField(decimal_places=6, default=Decimal('0'), max_digits=16, verbose_name='cost')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='person')),
            ],
            options={
                'verbose_name': 'day of use',
                'verbose_name_plural': 'use of models',
                'ordering': ('-day', 'user'),
                'constraints': [models.UniqueConstraint(models.F('user'), models.F('day'), name='use_once_a_day')],
            },
        ),
        migrations.AddConstraint(
            model_name='agentprofile',
            constraint=models.UniqueConstraint(models.F('is_default'), condition=models.Q(('is_default', True)), name='one_default_profile'),
        ),
        migrations.AddConstraint(
            model_name='citation',
            constraint=models.UniqueConstraint(models.F('message'), models.F('number'), name='citation_number_once'),
        ),
        migrations.AddConstraint(
            model_name='querycitation',
            constraint=models.UniqueConstraint(models.F('message'), models.F('number'), name='query_citation_number_once'),
        ),
        migrations.AddIndex(
            model_name='message',
            index=models.Index(condition=models.Q(('is_complete', False)), fields=['created_at'], name='message_open_idx'),
        ),
        migrations.AddIndex(
            model_name='message',
            index=models.Index(condition=models.Q(('role', 'assistant')), fields=['-created_at', '-id'], name='message_answers_idx'),
        ),
        migrations.AddIndex(
            model_name='message',
            index=models.Index(condition=models.Q(('is_shown_to_keepers', True)), fields=['-created_at', '-id'], name='message_kept_idx'),
        ),
        migrations.AddIndex(
            model_name='message',
            index=models.Index(condition=models.Q(('asked_key', ''), _negated=True), fields=['asked_key'], name='message_asked_idx'),
        ),
        migrations.AddIndex(
            model_name='chatmessage',
            index=models.Index(condition=models.Q(('answered_at', None)), fields=['received_at'], name='chat_message_open_idx'),
        ),
        migrations.AddIndex(
            model_name='chatmessage',
            index=models.Index(fields=['received_at'], name='chat_message_age_idx'),
        ),
        migrations.AddIndex(
            model_name='chatmessage',
            index=models.Index(fields=['bot', 'chat_id', 'user', '-received_at'], name='chat_message_chat_idx'),
        ),
        migrations.AddConstraint(
            model_name='chatmessage',
            constraint=models.UniqueConstraint(models.F('bot'), models.F('event_id'), name='chat_message_once'),
        ),
        migrations.AddConstraint(
            model_name='caseresult',
            constraint=models.UniqueConstraint(models.F('run'), models.F('case'), name='case_once_a_run'),
        ),
        migrations.AddConstraint(
            model_name='share',
            constraint=models.UniqueConstraint(models.F('session'), models.F('last'), name='share_once'),
        ),
        migrations.AddConstraint(
            model_name='skillversion',
            constraint=models.UniqueConstraint(models.F('skill'), models.F('number'), name='skill_version_once'),
        ),
        migrations.AddConstraint(
            model_name='webcitation',
            constraint=models.UniqueConstraint(models.F('message'), models.F('number'), name='web_citation_number_once'),
        ),
    ]
