"""Units, roles, tokens, accounts of directories, snapshots: what stands before knowledge bases."""

import authz.models.tokens
import django.contrib.postgres.fields
import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Role',
            fields=[
                ('group', models.OneToOneField(editable=False, on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='role', serialize=False, to='auth.group')),
                ('name', models.CharField(max_length=150, unique=True, verbose_name='name')),
            ],
            options={
                'verbose_name': 'role',
                'verbose_name_plural': 'roles',
                'ordering': ('name',),
            },
        ),
        migrations.CreateModel(
            name='VisibleFolders',
            fields=[
                ('sha256', models.CharField(max_length=64, primary_key=True, serialize=False)),
                ('count', models.PositiveIntegerField()),
                ('packed', models.BinaryField()),
            ],
        ),
        migrations.CreateModel(
            name='ApiToken',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100, verbose_name='name')),
                ('prefix', models.CharField(max_length=12, unique=True, verbose_name='prefix')),
                ('sha256', models.CharField(editable=False, max_length=64)),
                ('scopes', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('search', 'search and read documents'), ('chat', (
                    "ask questions and read your own conversations"
                )), ('ingest', 'upload and change documents and folders'), ('sql', 'let answers query business data'), ('audit', 'read and export the audit log'), ('provision', 'keep accounts and groups (SCIM)')], max_length=10), default=authz.models.tokens.default_scopes, size=None, verbose_name='scopes')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('expires_at', models.DateTimeField(verbose_name='expires')),
                ('revoked_at', models.DateTimeField(editable=False, null=True, verbose_name='revoked')),
                ('last_used_at', models.DateTimeField(editable=False, null=True, verbose_name='last used')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='api_tokens', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'API token',
                'verbose_name_plural': 'API tokens',
                'ordering': ('-created_at',),
            },
        ),
        migrations.CreateModel(
            name='DirectoryGroup',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('external_id', models.CharField(blank=True, max_length=250, verbose_name='id in the directory')),
                ('is_made', models.BooleanField(default=False, editable=False, verbose_name='made by the directory')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='since')),
                ('changed_at', models.DateTimeField(auto_now=True, verbose_name='last changed')),
                ('group', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='directory_group', to='auth.group', verbose_name='group')),
            ],
            options={
                'verbose_name': 'group of a directory',
                'verbose_name_plural': 'groups of a directory',
                'ordering': ('group__name',),
            },
        ),
        migrations.CreateModel(
            name='OrgUnit',
            fields=[
                ('group', models.OneToOneField(editable=False, on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='org_unit', serialize=False, to='auth.group')),
                ('name', models.CharField(max_length=150, unique=True, verbose_name='name')),
                ('kind', models.CharField(choices=[('department', 'department'), ('project', 'project')], default='department', max_length=12, verbose_name='kind')),
                ('parent', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='children', to='authz.orgunit', verbose_name='belongs to')),
            ],
            options={
                'verbose_name': 'org unit',
                'verbose_name_plural': 'org units',
                'ordering': ('name',),
            },
        ),
        migrations.CreateModel(
            name='ServiceAccount',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('purpose', models.CharField(max_length=200, verbose_name='purpose')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('keeper', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='keeper')),
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='service_account', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'service account',
                'verbose_name_plural': 'service accounts',
                'ordering': ('user__username',),
            },
        ),
        migrations.CreateModel(
            name='UnmappedClaim',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('provider', models.CharField(max_length=200, verbose_name='sign-in')),
                ('value', models.CharField(max_length=250, verbose_name='value of the groups claim')),
                ('seen_at', models.DateTimeField(verbose_name='last seen')),
            ],
            options={
                'verbose_name': 'unmapped claim',
                'verbose_name_plural': 'unmapped claims',
                'ordering': ('-seen_at',),
                'constraints': [models.UniqueConstraint(models.F('provider'), models.F('value'), name='unmapped_claim_once')],
            },
        ),
        migrations.CreateModel(
            name='PermissionSnapshot',
            fields=[
                ('id', models.CharField(max_length=40, primary_key=True, serialize=False)),
                ('sha256', models.CharField(editable=False, max_length=64, unique=True)),
                ('user_id', models.BigIntegerField(db_index=True)),
                ('username', models.CharField(max_length=150, verbose_name='person')),
                ('principal', models.JSONField()),
                ('taken_at', models.DateTimeField(auto_now_add=True, verbose_name='first taken')),
                ('folders', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='authz.visiblefolders')),
            ],
            options={
                'verbose_name': 'permission snapshot',
                'verbose_name_plural': 'permission snapshots',
                'ordering': ('-taken_at',),
                'permissions': [('oversee', 'Can see as another person and replay answers')],
            },
        ),
        migrations.CreateModel(
            name='ClaimMapping',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('provider', models.CharField(blank=True, help_text='Its provider id; empty: every company sign-in.', max_length=200, verbose_name='sign-in')),
                ('value', models.CharField(max_length=250, verbose_name='value of the groups claim')),
                ('group', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='auth.group', verbose_name='member of')),
            ],
            options={
                'verbose_name': 'claim mapping',
                'verbose_name_plural': 'claim mappings',
                'ordering': ('value', 'group__name'),
                'constraints': [models.UniqueConstraint(models.F('provider'), models.F('value'), models.F('group'), name='claim_mapping_once')],
            },
        ),
        migrations.CreateModel(
            name='ClaimMembership',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('provider', models.CharField(max_length=200, verbose_name='sign-in')),
                ('given_at', models.DateTimeField(auto_now_add=True, verbose_name='since')),
                ('group', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='auth.group')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='claim_memberships', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'membership by claim',
                'verbose_name_plural': 'memberships by claim',
                'ordering': ('user__username', 'group__name'),
                'constraints': [models.UniqueConstraint(models.F('user'), models.F('group'), name='claim_membership_once')],
            },
        ),
        migrations.CreateModel(
            name='DirectoryAccount',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('directory', models.CharField(choices=[('ldap', 'LDAP'), ('scim', 'SCIM')], max_length=10, verbose_name='directory')),
                ('external_id', models.CharField(blank=True, max_length=250, verbose_name='id in the directory')),
                ('emails', models.JSONField(default=list, editable=False)),
                ('is_gone', models.BooleanField(default=False, editable=False, verbose_name='disabled by the directory')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='since')),
                ('changed_at', models.DateTimeField(auto_now=True, verbose_name='last changed')),
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='directory_account', to=settings.AUTH_USER_MODEL, verbose_name='account')),
            ],
            options={
                'verbose_name': 'account of a directory',
                'verbose_name_plural': 'accounts of a directory',
                'ordering': ('user__username',),
                'permissions': [('provision', 'Can keep accounts and groups through SCIM')],
                'constraints': [models.UniqueConstraint(models.F('external_id'), condition=models.Q(('directory', 'ldap')), name='ldap_account_once')],
            },
        ),
        migrations.CreateModel(
            name='OrgUnitLink',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('depth', models.PositiveSmallIntegerField()),
                ('ancestor', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='descendant_links', to='authz.orgunit')),
                ('descendant', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='ancestor_links', to='authz.orgunit')),
            ],
            options={
                'constraints': [models.UniqueConstraint(models.F('ancestor'), models.F('descendant'), name='org_unit_link_once')],
            },
        ),
        migrations.CreateModel(
            name='TokenUse',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('address', models.CharField(blank=True, max_length=45)),
                ('is_refused', models.BooleanField(default=False)),
                ('recorded_at', models.DateTimeField()),
                ('token', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='uses', to='authz.apitoken')),
            ],
            options={
                'constraints': [models.UniqueConstraint(models.F('token'), models.F('address'), models.F('is_refused'), name='token_use_once_for_an_address')],
            },
        ),
    ]
