"""Alembic's entry: run the scripts on the connection that the migrations hand in."""

from alembic import context

context.configure(connection=context.config.attributes["connection"])
with context.begin_transaction():
    context.run_migrations()
