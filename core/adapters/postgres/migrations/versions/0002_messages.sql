-- What texts were written from, so that they can be told in other languages: the English text, which
-- stands where it stood before -> {"code", "english", "parameters"}. Older texts have none.
-- That of changes is a table of its own: workers of the release before, which go on while this is
-- put in, read all columns of a change and know no other one.
CREATE TABLE change_messages (
    change_id     text PRIMARY KEY,
    said          jsonb NOT NULL
);
ALTER TABLE feedback ADD COLUMN said jsonb;
ALTER TABLE model_lines ADD COLUMN said jsonb;
