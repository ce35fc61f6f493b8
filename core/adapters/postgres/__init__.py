"""The adapters on PostgreSQL: our stores, the job engine and the saver of ReAct runs."""
