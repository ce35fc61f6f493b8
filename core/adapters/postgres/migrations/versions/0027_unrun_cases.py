"""Cases that could not be run; the SQL is in the file beside."""

from pathlib import Path

from alembic import op

revision = "0027"
down_revision = "0026"


def upgrade() -> None:
    """Run the SQL file as it is."""
    script = Path(__file__).with_suffix(".sql").read_text("utf-8")
    op.get_bind().exec_driver_sql(script, execution_options={"no_parameters": True})
