ALTER TABLE candidates ADD COLUMN said jsonb;
