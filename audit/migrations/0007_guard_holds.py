"""A legal hold is released and otherwise never changed; a false checkpoint at a number keeps nobody from signing that number."""

from django.db import migrations, models

GUARD = """
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
UNDO = """
DROP TRIGGER audit_hold_release_only ON audit_hold;
DROP TRIGGER audit_hold_no_truncate ON audit_hold;
DROP FUNCTION audit_guard_hold();
"""


class Migration(migrations.Migration):
    dependencies = [("audit", "0006_indexes_without_like")]
    operations = [
        migrations.RunSQL(GUARD, UNDO),
        migrations.RemoveConstraint(model_name="checkpoint", name="one_checkpoint_of_a_kind"),
        migrations.AddConstraint(
            model_name="checkpoint",
            constraint=models.UniqueConstraint(fields=("seq", "kind", "signature"), name="one_checkpoint_of_a_signature"),
        ),
    ]
