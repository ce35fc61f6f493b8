-- name: forget
-- Jobs of a worker that is not in this table count as stalled.
WITH cards AS (DELETE FROM worker_cards)
DELETE FROM procrastinate_workers

-- name: beat
WITH card AS (
    INSERT INTO worker_cards (id, name, host, pid, concurrency, started_at)
    VALUES (%(worker_id)s, %(name)s, %(host)s, %(pid)s, %(concurrency)s, now())
    ON CONFLICT (id) DO NOTHING
)
INSERT INTO procrastinate_workers (id) OVERRIDING SYSTEM VALUE VALUES (%(worker_id)s)
ON CONFLICT (id) DO UPDATE SET last_heartbeat = now()

-- name: forget_dead
-- One that still has jobs stays until they are taken over, so that they remain attributed to it.
WITH cards AS (
    DELETE FROM worker_cards c
    WHERE NOT EXISTS (SELECT FROM procrastinate_workers w WHERE w.id = c.id)
)
DELETE FROM procrastinate_workers w
WHERE w.last_heartbeat < now() - make_interval(secs => %(stalled_after)s)
  AND NOT EXISTS (
      SELECT FROM procrastinate_jobs j WHERE j.worker_id = w.id AND j.status = 'doing')
