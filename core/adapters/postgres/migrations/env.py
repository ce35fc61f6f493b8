"""Alembic's entry point: run the scripts on the connection that `migrations` passes in."""

from alembic import context

context.configure(connection=context.config.attributes["connection"])
with context.begin_transaction():
    context.run_migrations()
