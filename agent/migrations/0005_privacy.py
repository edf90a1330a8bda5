"""Privacy settings, looks at conversations, and answers of which the asker opened a lower source."""

import django.core.validators
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('agent', '0004_shown_earlier'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='PrivacySettings',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('lists_every_question', models.BooleanField(default=False, verbose_name='list every unanswered question')),
                ('told_after_days', models.PositiveSmallIntegerField(default=0, validators=[django.core.validators.MaxValueValidator(180)], verbose_name='days until people are told')),
            ],
            options={
                'verbose_name': 'privacy setting',
                'verbose_name_plural': 'privacy settings',
            },
        ),
        migrations.AddField(
            model_name='message',
            name='opened_lower',
            field=models.BooleanField(default=False, editable=False),
        ),
        migrations.CreateModel(
            name='ConversationView',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('viewed_at', models.DateTimeField(auto_now_add=True)),
                ('told_at', models.DateTimeField()),
                ('seen_at', models.DateTimeField(null=True)),
                ('session', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='views', to='agent.session')),
                ('viewer', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'look at a conversation',
                'verbose_name_plural': 'looks at conversations',
                'ordering': ('-viewed_at',),
                'indexes': [models.Index(condition=models.Q(('seen_at', None)), fields=['session'], name='view_unseen_idx')],
            },
        ),
    ]
