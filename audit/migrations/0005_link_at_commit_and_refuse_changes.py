"""The database links each entry when its transaction commits, and refuses every change but an erasure and a signed cut."""

from django.db import migrations

# Runs as its owner, so that the role of the application needs no right to write the chain. Deferred to the commit, so that
# the row lock on the head lasts microseconds; the commit does not wait for the disk under it (see audit/durability.py).
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
UNDO = """
DROP TRIGGER audit_entry_link ON audit_entry;
DROP TRIGGER audit_entry_append_only ON audit_entry;
DROP TRIGGER audit_link_append_only ON audit_link;
DROP TRIGGER audit_head_forward_only ON audit_head;
DROP TRIGGER audit_checkpoint_append_only ON audit_checkpoint;
DROP TRIGGER audit_entry_no_truncate ON audit_entry;
DROP TRIGGER audit_link_no_truncate ON audit_link;
DROP TRIGGER audit_head_no_truncate ON audit_head;
DROP TRIGGER audit_checkpoint_no_truncate ON audit_checkpoint;
DROP FUNCTION audit_link_entry();
DROP FUNCTION audit_guard_entry();
DROP FUNCTION audit_guard_link();
DROP FUNCTION audit_guard_head();
DROP FUNCTION audit_refuse_change();
"""


class Migration(migrations.Migration):
    dependencies = [("audit", "0004_link_what_is_there")]
    operations = [migrations.RunSQL(LINK, UNDO), migrations.RunSQL(REFUSE, migrations.RunSQL.noop)]
