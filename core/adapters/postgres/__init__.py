"""PostgreSQL adapters: our stores, the job engine, the saver of ReAct runs, migrations.

It may import every room below `adapters`; `psycopg` is imported nowhere else.
Begin with `queries.py` for how SQL is run, then `change_log.py`, `inbox.py` and `job_worker.py`.
"""
