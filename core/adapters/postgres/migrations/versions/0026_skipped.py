"""`skipped` as a status of deliveries, and deliveries by change; the SQL is in the file beside."""

from pathlib import Path

from alembic import op

revision = "0026"
down_revision = "0025"


def upgrade() -> None:
    """Run the SQL file as it is."""
    script = Path(__file__).with_suffix(".sql").read_text("utf-8")
    op.get_bind().exec_driver_sql(script, execution_options={"no_parameters": True})
