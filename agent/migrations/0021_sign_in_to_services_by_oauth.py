from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('agent', '0020_answer_in_chat_platforms'),
    ]

    operations = [
        migrations.AddField(
            model_name='mcpservice',
            name='oauth_issuer',
            field=models.CharField(blank=True, help_text='https://… of who gives this site tokens for the service (OAuth, client credentials). Empty: the key stands in its header.', max_length=300, verbose_name='issuer of tokens'),
        ),
        migrations.AddField(
            model_name='mcpservice',
            name='oauth_client_id',
            field=models.CharField(blank=True, help_text='What the issuer calls this site; the key below is its secret.', max_length=200, verbose_name='client id'),
        ),
        migrations.AddField(
            model_name='mcpservice',
            name='oauth_scope',
            field=models.CharField(blank=True, help_text='By spaces; empty: what the service asks for.', max_length=300, verbose_name='scopes'),
        ),
    ]
