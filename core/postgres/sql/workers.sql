-- name: forget
-- Jobs of a worker that is not in this table count as stalled.
DELETE FROM procrastinate_workers
