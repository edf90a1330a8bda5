"""Grants, denials and requests on folders and knowledge bases, which are made after the units they belong to."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
        ('authz', '0001_initial'),
        ('knowledge', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='apitoken',
            name='folder',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='knowledge.folder', verbose_name='folder'),
        ),
        migrations.CreateModel(
            name='AccessRequest',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('reason', models.CharField(blank=True, max_length=500, verbose_name='reason')),
                ('state', models.CharField(choices=[('open', 'waiting for a decision'), ('granted', 'granted'), ('refused', 'refused')], default='open', max_length=8, verbose_name='state')),
                ('asked_at', models.DateTimeField(auto_now_add=True, verbose_name='asked')),
                ('decided_at', models.DateTimeField(editable=False, null=True, verbose_name='decided')),
                ('answer', models.CharField(blank=True, max_length=500, verbose_name='answer')),
                ('ends_at', models.DateTimeField(blank=True, null=True, verbose_name='ends')),
                ('decided_by', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='by')),
                ('folder', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='knowledge.folder', verbose_name='folder')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='access_requests', to=settings.AUTH_USER_MODEL, verbose_name='person')),
            ],
            options={
                'verbose_name': 'access request',
                'verbose_name_plural': 'access requests',
                'ordering': ('-asked_at',),
                'constraints': [models.UniqueConstraint(models.F('folder'), models.F('user'), condition=models.Q(('state', 'open')), name='one_open_request_a_folder')],
            },
        ),
        migrations.CreateModel(
            name='Denial',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('right', models.CharField(choices=[('view', 'view (may be answered from)'), ('download', 'download the original'), ('add', 'add documents and folders'), ('change', 'change, retry and delete'), ('manage', 'manage rights')], max_length=10, verbose_name='right')),
                ('reason', models.CharField(blank=True, max_length=500, verbose_name='reason')),
                ('denied_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False, verbose_name='since')),
                ('denied_by', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='by')),
                ('folder', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='denials', to='knowledge.folder')),
                ('group', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='denials', to='auth.group', verbose_name='group')),
                ('knowledge_base', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='denials', to='knowledge.knowledgebase')),
                ('user', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='denials', to=settings.AUTH_USER_MODEL, verbose_name='user')),
            ],
            options={
                'verbose_name': 'denial',
                'verbose_name_plural': 'denials',
                'constraints': [models.CheckConstraint(condition=models.Q(('folder', None), ('knowledge_base', None), _connector='XOR'), name='denial_on_a_folder_or_a_knowledge_base'), models.CheckConstraint(condition=models.Q(('user', None), ('group', None), _connector='XOR'), name='denial_to_a_person_or_a_group'), models.UniqueConstraint(fields=('folder', 'knowledge_base', 'user', 'group', 'right'), name='denial_once', nulls_distinct=False)],
            },
        ),
        migrations.CreateModel(
            name='FolderGroupGrant',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('expires_at', models.DateTimeField(blank=True, null=True, verbose_name='ends')),
                ('granted_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False, verbose_name='since')),
                ('origin', models.UUIDField(db_index=True, editable=False, null=True)),
                ('origin_name', models.CharField(default='', editable=False, max_length=100)),
                ('content_object', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='group_grants', to='knowledge.folder')),
                ('granted_by', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='by')),
                ('group', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='auth.group')),
                ('permission', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='auth.permission')),
            ],
            options={
                'verbose_name': 'right of a group on a folder',
                'verbose_name_plural': 'rights of groups on folders',
                'abstract': False,
                'unique_together': {('group', 'permission', 'content_object')},
            },
        ),
        migrations.CreateModel(
            name='FolderUserGrant',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('expires_at', models.DateTimeField(blank=True, null=True, verbose_name='ends')),
                ('granted_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False, verbose_name='since')),
                ('origin', models.UUIDField(db_index=True, editable=False, null=True)),
                ('origin_name', models.CharField(default='', editable=False, max_length=100)),
                ('content_object', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='user_grants', to='knowledge.folder')),
                ('granted_by', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='by')),
                ('permission', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='auth.permission')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'right of a person on a folder',
                'verbose_name_plural': 'rights of persons on folders',
                'abstract': False,
                'unique_together': {('user', 'permission', 'content_object')},
            },
        ),
        migrations.CreateModel(
            name='KnowledgeBaseGroupGrant',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('expires_at', models.DateTimeField(blank=True, null=True, verbose_name='ends')),
                ('granted_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False, verbose_name='since')),
                ('origin', models.UUIDField(db_index=True, editable=False, null=True)),
                ('origin_name', models.CharField(default='', editable=False, max_length=100)),
                ('content_object', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='group_grants', to='knowledge.knowledgebase')),
                ('granted_by', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='by')),
                ('group', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='auth.group')),
                ('permission', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='auth.permission')),
            ],
            options={
                'verbose_name': 'right of a group on a knowledge base',
                'verbose_name_plural': 'rights of groups on knowledge bases',
                'abstract': False,
                'unique_together': {('group', 'permission', 'content_object')},
            },
        ),
        migrations.CreateModel(
            name='KnowledgeBaseUserGrant',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('expires_at', models.DateTimeField(blank=True, null=True, verbose_name='ends')),
                ('granted_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False, verbose_name='since')),
                ('origin', models.UUIDField(db_index=True, editable=False, null=True)),
                ('origin_name', models.CharField(default='', editable=False, max_length=100)),
                ('content_object', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='user_grants', to='knowledge.knowledgebase')),
                ('granted_by', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='by')),
                ('permission', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='auth.permission')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'right of a person on a knowledge base',
                'verbose_name_plural': 'rights of persons on knowledge bases',
                'abstract': False,
                'unique_together': {('user', 'permission', 'content_object')},
            },
        ),
    ]
