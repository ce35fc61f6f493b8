-- name: get
SELECT id, tenant_id, name, role, goal, persona,
       ARRAY(SELECT s.name FROM agent_skills s WHERE s.agent_id = a.id
             ORDER BY s.name COLLATE "C") AS skills
FROM agents a WHERE id = %(id)s

-- name: list
SELECT id, tenant_id, name, role, goal, persona,
       ARRAY(SELECT s.name FROM agent_skills s WHERE s.agent_id = a.id
             ORDER BY s.name COLLATE "C") AS skills
FROM agents a
WHERE %(tenant_id)s::text IS NULL OR tenant_id = %(tenant_id)s
ORDER BY id COLLATE "C"

-- name: save
-- No row comes back where the id is another tenant's.
WITH saved AS (
    INSERT INTO agents (id, tenant_id, name, role, goal, persona)
    VALUES (%(id)s, %(tenant_id)s, %(name)s, %(role)s, %(goal)s, %(persona)s)
    ON CONFLICT (id) DO UPDATE
    SET name = excluded.name, role = excluded.role, goal = excluded.goal,
        persona = excluded.persona
    WHERE agents.tenant_id = excluded.tenant_id
    RETURNING id, tenant_id, xmax = 0 AS is_new
), skills AS (
    SELECT saved.id, saved.tenant_id, skill.name
    FROM saved, unnest(%(skills)s::text[]) AS skill (name) WHERE saved.is_new
), of_agent AS (
    INSERT INTO agent_skills (agent_id, name) SELECT id, name FROM skills
    ON CONFLICT DO NOTHING
), of_tenant AS (
    INSERT INTO tenant_skills (tenant_id, name) SELECT tenant_id, name FROM skills
    ON CONFLICT DO NOTHING
)
SELECT is_new FROM saved
