-- An agent's documents of a kind are read by themselves: of many agents each has few.
CREATE INDEX search_signs_by_owner ON search_signs (model_id, tenant_id, kind, agent_id);
DROP INDEX search_signs_by_tenant;
