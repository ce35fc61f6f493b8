-- With what rights it was given, for rules that ask; none where it came by no token.
ALTER TABLE feedback ADD COLUMN roles text[] NOT NULL DEFAULT '{}';
