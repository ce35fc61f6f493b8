-- The codes and parameters behind stored texts, for showing them in other languages: the English text,
-- which stays where it was -> {"code", "english", "parameters"}. Older texts have none. Those of
-- changes are in a table of their own: workers of the previous release, which continue during this
-- migration, read all columns of a change and know no other ones.
CREATE TABLE change_messages (
    change_id     text PRIMARY KEY,
    said          jsonb NOT NULL
);
ALTER TABLE feedback ADD COLUMN said jsonb;
ALTER TABLE model_lines ADD COLUMN said jsonb;
