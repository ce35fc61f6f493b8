"""Chains of digests over history and decisions; what is there already is chained in parts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import structlog
from alembic import op

revision = "0013"
down_revision = "0012"

log = structlog.get_logger(__name__)

_AT_ONCE = 5000
_FORCED = """
SELECT relname FROM pg_class
WHERE oid IN (to_regclass('history'), to_regclass('changes')) AND relforcerowsecurity
"""
_PART = "SELECT audit_chain_backlog(%s, %s)"
# Deferred: an entry is chained when its transaction commits, after all else that it does, so that
# the lock of a tenant is held no longer than the commit takes.
_TRIGGERS = """
DROP FUNCTION audit_chain_backlog;
DROP TABLE audit_backlog;
CREATE CONSTRAINT TRIGGER history_chained AFTER INSERT ON history
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION audit_history();
CREATE CONSTRAINT TRIGGER decisions_chained AFTER INSERT ON decisions
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION audit_decision();
CREATE CONSTRAINT TRIGGER erasures_chained AFTER INSERT ON erasures
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION audit_erasure();
CREATE TRIGGER changes_decided AFTER UPDATE ON changes FOR EACH ROW
    WHEN (NEW.decided_at IS DISTINCT FROM OLD.decided_at AND NEW.decided_at IS NOT NULL
          OR NEW.decided_at IS NULL AND NEW.edited_by IS NOT NULL
             AND NEW.content_hash <> OLD.content_hash)
    EXECUTE FUNCTION decisions_of_changes();
"""


def upgrade() -> None:
    """Run the SQL file, chain what is there, and have what comes chained as it is written."""
    bind = op.get_bind()
    # Nothing is written between what is chained here and the first that the triggers chain.
    bind.exec_driver_sql("LOCK TABLE history, changes IN SHARE ROW EXCLUSIVE MODE")
    with _seen_by_owner():
        script = Path(__file__).with_suffix(".sql").read_text("utf-8")
        bind.exec_driver_sql(script, execution_options={"no_parameters": True})
        count = bind.exec_driver_sql("SELECT count(*) FROM audit_backlog").scalar_one()
        if count:
            log.info("history.chaining", records=count)
        last = 0
        while done := bind.exec_driver_sql(_PART, (last, _AT_ONCE)).scalar_one():
            last = done
    bind.exec_driver_sql(_TRIGGERS, execution_options={"no_parameters": True})


@contextmanager
def _seen_by_owner() -> Iterator[None]:
    """Let the owner see all rows in the block: under forced row-level security it sees none."""
    bind = op.get_bind()
    forced = bind.exec_driver_sql(_FORCED).scalars().all()
    for table in forced:
        bind.exec_driver_sql(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")
    yield
    for table in forced:
        bind.exec_driver_sql(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
