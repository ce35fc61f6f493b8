-- name: get
SELECT id, tenant_id, name, role, goal, persona,
       ARRAY(SELECT s.name FROM agent_skills s WHERE s.tenant_id = a.tenant_id AND s.agent_id = a.id
             ORDER BY s.name COLLATE "C") AS skills
FROM agents_of_tenants a WHERE tenant_id = %(tenant_id)s AND id = %(id)s

-- name: of_id
SELECT id, tenant_id, name, role, goal, persona,
       ARRAY(SELECT s.name FROM agent_skills s WHERE s.tenant_id = a.tenant_id AND s.agent_id = a.id
             ORDER BY s.name COLLATE "C") AS skills
FROM agents_of_tenants a WHERE id = %(id)s ORDER BY tenant_id COLLATE "C"

-- name: having
SELECT id, tenant_id, name, role, goal, persona,
       ARRAY(SELECT s.name FROM agent_skills s WHERE s.tenant_id = a.tenant_id AND s.agent_id = a.id
             ORDER BY s.name COLLATE "C") AS skills
FROM agents_of_tenants a
WHERE tenant_id = %(tenant_id)s AND EXISTS (
    SELECT FROM agent_skills s
    WHERE s.tenant_id = a.tenant_id AND s.agent_id = a.id AND s.name = %(name)s)
ORDER BY id COLLATE "C"

-- name: list
SELECT id, tenant_id, name, role, goal, persona,
       ARRAY(SELECT s.name FROM agent_skills s WHERE s.tenant_id = a.tenant_id AND s.agent_id = a.id
             ORDER BY s.name COLLATE "C") AS skills
FROM agents_of_tenants a
WHERE %(tenant_id)s::text IS NULL OR tenant_id = %(tenant_id)s
ORDER BY id COLLATE "C", tenant_id COLLATE "C"

-- name: save
-- An agent becomes new again once it has a goal.
WITH saved AS (
    INSERT INTO agents_of_tenants AS agents (id, tenant_id, name, role, goal, persona, awaits_setup)
    VALUES (%(id)s, %(tenant_id)s, %(name)s, %(role)s, %(goal)s, %(persona)s,
            %(sets_up_new)s AND %(goal)s ~ '\S')
    ON CONFLICT (tenant_id, id) DO UPDATE
    SET name = excluded.name, role = excluded.role, goal = excluded.goal,
        persona = excluded.persona,
        awaits_setup = agents.awaits_setup OR excluded.awaits_setup AND agents.goal !~ '\S'
    RETURNING id, tenant_id, xmax = 0 AS is_new
), skills AS (
    SELECT saved.id, saved.tenant_id, skill.name
    FROM saved, unnest(%(skills)s::text[]) AS skill (name) WHERE saved.is_new
), of_agent AS (
    INSERT INTO agent_skills (tenant_id, agent_id, name) SELECT tenant_id, id, name FROM skills
    ON CONFLICT DO NOTHING
), of_tenant AS (
    INSERT INTO tenant_skills (tenant_id, name) SELECT tenant_id, name FROM skills
    ON CONFLICT DO NOTHING
)
SELECT is_new FROM saved

-- name: awaiting_setup
SELECT id, tenant_id, name, role, goal, persona FROM agents_of_tenants
WHERE awaits_setup AND goal ~ '\S'
ORDER BY id COLLATE "C", tenant_id COLLATE "C" LIMIT %(limit)s

-- name: setup_claimed
-- A second claimer waits for the first, then finds that the agent no longer awaits setup.
UPDATE agents_of_tenants SET awaits_setup = false
WHERE tenant_id = %(tenant_id)s AND id = %(id)s AND awaits_setup
  AND (role, goal, persona) = (%(role)s, %(goal)s, %(persona)s)

-- name: setup_begun
UPDATE agents_of_tenants SET awaits_setup = false WHERE tenant_id = %(tenant_id)s AND id = %(id)s
