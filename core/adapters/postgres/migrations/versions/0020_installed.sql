-- Changes that install a skill are few among all changes, and are asked for by tenant.
CREATE INDEX changes_installed ON changes (tenant_id, target_id) WHERE request ? 'published';
