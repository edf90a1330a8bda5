"""The audit log, and triggers: each entry is linked when its transaction commits, and refuses every change but an erasure and a signed cut."""

import audit.models
import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


# Runs as its owner, so that the role of the application needs no right to write the chain. Deferred to the commit, so that
# the row lock on the head lasts microseconds; the commit does not wait for the disk under it (see audit/record.py).
LINK = """
CREATE FUNCTION audit_link_entry() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE place bigint; digest bytea;
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    INSERT INTO public.audit_head AS head (only_one, seq, hash)
    VALUES (true, 1, sha256(decode(repeat('00', 32), 'hex') || int8send(1) || NEW.content_hash))
    ON CONFLICT (only_one) DO UPDATE
        SET seq = head.seq + 1, hash = sha256(head.hash || int8send(head.seq + 1) || NEW.content_hash)
    RETURNING head.seq, head.hash INTO place, digest;
    INSERT INTO public.audit_link (seq, entry_id, hash) VALUES (place, NEW.id, digest);
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER audit_entry_link AFTER INSERT ON audit_entry
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION audit_link_entry();
"""
REFUSE = """
CREATE FUNCTION audit_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'audit entries are never changed or deleted (% on %)', TG_OP, TG_TABLE_NAME;
END $$;

CREATE FUNCTION audit_guard_entry() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE personal text[] := ARRAY['actor_name', 'on_behalf_of_name', 'target_name', 'address', 'salts'];
BEGIN
    IF TG_OP = 'UPDATE' THEN  -- an erasure: names, addresses and salts may become empty, nothing else changes
        IF to_jsonb(NEW) - personal = to_jsonb(OLD) - personal
            AND NEW.actor_name IN ('', OLD.actor_name) AND NEW.on_behalf_of_name IN ('', OLD.on_behalf_of_name)
            AND NEW.target_name IN ('', OLD.target_name)
            AND (NEW.address IS NULL OR NEW.address = OLD.address) AND OLD.salts @> NEW.salts
        THEN RETURN NEW;
        END IF;
    ELSIF EXISTS (
        SELECT FROM public.audit_link JOIN public.audit_checkpoint ON kind = 'cut' AND audit_checkpoint.seq >= audit_link.seq
        WHERE entry_id = OLD.id
    ) THEN RETURN OLD;
    END IF;
    RAISE EXCEPTION 'audit entries are never changed or deleted (% on %)', TG_OP, TG_TABLE_NAME;
END $$;

CREATE FUNCTION audit_guard_link() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF EXISTS (SELECT FROM public.audit_checkpoint WHERE kind = 'cut' AND seq >= OLD.seq) THEN RETURN OLD; END IF;
    END IF;
    RAISE EXCEPTION 'audit entries are never changed or deleted (% on %)', TG_OP, TG_TABLE_NAME;
END $$;

CREATE FUNCTION audit_guard_head() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        IF NEW.seq = OLD.seq + 1 THEN RETURN NEW; END IF;
    END IF;
    RAISE EXCEPTION 'audit entries are never changed or deleted (% on %)', TG_OP, TG_TABLE_NAME;
END $$;

CREATE TRIGGER audit_entry_append_only BEFORE UPDATE OR DELETE ON audit_entry
    FOR EACH ROW EXECUTE FUNCTION audit_guard_entry();
CREATE TRIGGER audit_link_append_only BEFORE UPDATE OR DELETE ON audit_link
    FOR EACH ROW EXECUTE FUNCTION audit_guard_link();
CREATE TRIGGER audit_head_forward_only BEFORE UPDATE OR DELETE ON audit_head
    FOR EACH ROW EXECUTE FUNCTION audit_guard_head();
CREATE TRIGGER audit_checkpoint_append_only BEFORE UPDATE OR DELETE ON audit_checkpoint
    FOR EACH ROW EXECUTE FUNCTION audit_refuse_change();
CREATE TRIGGER audit_entry_no_truncate BEFORE TRUNCATE ON audit_entry
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE TRIGGER audit_link_no_truncate BEFORE TRUNCATE ON audit_link
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE TRIGGER audit_head_no_truncate BEFORE TRUNCATE ON audit_head
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE TRIGGER audit_checkpoint_no_truncate BEFORE TRUNCATE ON audit_checkpoint
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
"""
HOLDS = """
CREATE FUNCTION audit_guard_hold() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN  -- a release
        IF OLD.released_at IS NULL AND NEW.released_at BETWEEN '0001-01-02Z' AND '9999-12-30Z'
            AND to_jsonb(NEW) - 'released_at' = to_jsonb(OLD) - 'released_at'
        THEN RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION 'legal holds are released, and otherwise never changed or deleted (% on %)', TG_OP, TG_TABLE_NAME;
END $$;
CREATE TRIGGER audit_hold_release_only BEFORE UPDATE OR DELETE ON audit_hold
    FOR EACH ROW EXECUTE FUNCTION audit_guard_hold();
CREATE TRIGGER audit_hold_no_truncate BEFORE TRUNCATE ON audit_hold
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
"""


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
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
                ('reason', models.CharField(help_text="Case or file number, shown in the audit log.", max_length=255, verbose_name='reason')),
                ('person_id', models.BigIntegerField(blank=True, help_text=(
                    "Leave empty for everyone; otherwise only this person's names and entries."
                ), null=True, verbose_name='user id')),
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
                'constraints': [models.UniqueConstraint(fields=('seq', 'kind', 'signature'), name='one_checkpoint_of_a_signature')],
            },
        ),
        migrations.CreateModel(
            name='Entry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='time')),
                ('actor_id', models.BigIntegerField(null=True, verbose_name='actor id')),
                ('actor_name', models.CharField(blank=True, max_length=150, verbose_name='actor')),
                ('on_behalf_of_id', models.BigIntegerField(null=True, verbose_name='on behalf of, id')),
                ('on_behalf_of_name', models.CharField(blank=True, max_length=150, verbose_name='on behalf of')),
                ('action', models.CharField(choices=audit.models.known_actions, max_length=64, verbose_name='action')),
                ('outcome', models.CharField(choices=[('allow', 'allowed'), ('deny', 'denied'), ('filtered', 'filtered'), ('error', 'error')], default='allow', max_length=16, verbose_name='outcome')),
                ('reason', models.CharField(blank=True, max_length=500, verbose_name='reason')),
                ('target_type', models.CharField(blank=True, max_length=64, verbose_name='target type')),
                ('target_id', models.CharField(blank=True, max_length=64, verbose_name='target id')),
                ('target_name', models.CharField(blank=True, max_length=255, verbose_name='target')),
                ('request_id', models.CharField(blank=True, max_length=64, verbose_name='request id')),
                ('run_id', models.CharField(blank=True, max_length=64, verbose_name='run id')),
                ('address', models.GenericIPAddressField(null=True, verbose_name='address')),
                ('detail', models.JSONField(default=dict, verbose_name='detail')),
                ('personal', models.JSONField(default=dict, verbose_name='hashes of names and addresses')),
                ('salts', models.JSONField(default=dict, verbose_name='salts of names and addresses')),
                ('content_hash', models.BinaryField(max_length=32, verbose_name='hash of the content')),
            ],
            options={
                'verbose_name': 'audit entry',
                'verbose_name_plural': 'audit entries',
                'ordering': ('-id',),
                'permissions': [('export_entry', 'Can export the audit log')],
                'indexes': [models.Index(fields=['at'], name='audit_entry_at_idx'), models.Index(fields=['actor_id'], name='audit_entry_actor_id_idx'), models.Index(fields=['action'], name='audit_entry_action_idx'), models.Index(fields=['target_id'], name='audit_entry_target_id_idx'), models.Index(fields=['run_id'], name='audit_entry_run_id_idx')],
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
        migrations.RunSQL(LINK),
        migrations.RunSQL(REFUSE),
        migrations.RunSQL(HOLDS),
    ]
