-- Items of the kinds that packages add stand beside memories and decision tables.
ALTER TABLE knowledge_versions DROP CONSTRAINT knowledge_versions_kind_check;
ALTER TABLE knowledge_versions ADD CHECK (kind NOT IN ('SKILL', 'AGENT_SKILLS'));

-- An agent has one item of a name; a memory has no name but its text.
CREATE UNIQUE INDEX knowledge_named ON knowledge_versions (tenant_id, kind, agent_id, name_key)
    WHERE valid_to IS NULL AND kind <> 'MEMORY';
DROP INDEX knowledge_rule_name;

-- Which package brought a kind, so that its items can say what is missing where it is not installed.
CREATE TABLE kind_packages (
    kind          text PRIMARY KEY,
    package       text NOT NULL
);

-- Two bits tell the kind of a posting: all that packages add share the last number, and a search
-- for one of them asks the documents which it is.
CREATE OR REPLACE FUNCTION search_owner(agent text, kind text) RETURNS smallint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (coalesce(1 + (hashtext(agent) & 2147483647) % 16383, 0) * 4
            + CASE WHEN kind = 'MEMORY' THEN 0 WHEN kind = 'DMN_RULE' THEN 1 WHEN kind = 'SKILL' THEN 2
                   WHEN kind IS NOT NULL THEN 3 END
            - 32768)::smallint;
