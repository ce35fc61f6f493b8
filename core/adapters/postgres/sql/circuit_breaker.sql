-- name: state
SELECT failures, open_since, fatal, reason, said,
       extract(epoch FROM probe_at - clock_timestamp())::float8 AS probe_in
FROM model_lines WHERE model = %(model)s

-- name: fail
-- At the limit the circuit opens. Calls that fail later began earlier: they may only postpone the
-- probe.
INSERT INTO model_lines AS line (model, failures, reason, said, open_since, probe_at)
SELECT %(model)s, %(count)s, %(reason)s, %(said)s::jsonb, opened,
       opened + make_interval(secs => %(probe_after)s)
FROM (SELECT CASE WHEN %(count)s >= %(limit)s THEN clock_timestamp() END AS opened) AS first
ON CONFLICT (model) DO UPDATE
SET failures = line.failures + excluded.failures,
    reason = CASE WHEN line.open_since IS NULL THEN excluded.reason ELSE line.reason END,
    said = CASE WHEN line.open_since IS NULL THEN excluded.said ELSE line.said END,
    open_since = CASE WHEN line.open_since IS NULL
                       AND line.failures + excluded.failures >= %(limit)s
                      THEN clock_timestamp() ELSE line.open_since END,
    probe_at = CASE WHEN line.open_since IS NOT NULL
                    THEN greatest(line.probe_at,
                                  clock_timestamp() + make_interval(secs => %(asked)s))
                    WHEN line.failures + excluded.failures >= %(limit)s
                    THEN clock_timestamp() + make_interval(secs => %(probe_after)s) END
RETURNING failures, open_since, fatal, reason, said,
          extract(epoch FROM probe_at - clock_timestamp())::float8 AS probe_in

-- name: answer
-- Only a probe closes the circuit: calls that succeed while it is open were made before.
UPDATE model_lines SET failures = 0, reason = ''
WHERE model = %(model)s AND failures > 0 AND open_since IS NULL

-- name: claim_probe
-- An `open_since` in the future means that the clock was set back: the probe is due now.
UPDATE model_lines
SET probe_at = clock_timestamp() + make_interval(secs => %(every)s),
    open_since = least(open_since, clock_timestamp())
WHERE model = %(model)s
  AND (probe_at <= clock_timestamp() OR open_since > clock_timestamp()
       OR (fatal AND %(unseen)s))
RETURNING open_since,
          extract(epoch FROM clock_timestamp() - open_since)::float8 AS open_for

-- name: prolong
UPDATE model_lines
SET probe_at = clock_timestamp() + make_interval(secs => %(probe_after)s),
    fatal = %(fatal)s, reason = %(reason)s, said = %(said)s
WHERE model = %(model)s AND open_since = %(open_since)s

-- name: release
UPDATE model_lines
SET failures = 0, open_since = NULL, probe_at = NULL, fatal = false, reason = ''
WHERE model = %(model)s AND open_since = %(open_since)s

-- name: take_slot
-- A slot is one row: of two that take the same one at once, one gets it; random, so that this is
-- rare. An expired slot is taken over.
INSERT INTO model_permits AS permit (model, place, id, expires_at)
SELECT %(model)s, free.place, %(id)s, clock_timestamp() + make_interval(secs => %(lasts)s)
FROM generate_series(1, %(slots)s) AS free (place)
WHERE NOT EXISTS (
    SELECT FROM model_permits taken
    WHERE taken.model = %(model)s AND taken.place = free.place
      AND taken.expires_at > clock_timestamp())
ORDER BY random() LIMIT 1
ON CONFLICT (model, place) DO UPDATE SET id = excluded.id, expires_at = excluded.expires_at
WHERE permit.expires_at <= clock_timestamp()

-- name: renew_slot
-- No row: the worker was silent for too long, and another one has the slot.
UPDATE model_permits SET expires_at = clock_timestamp() + make_interval(secs => %(lasts)s)
WHERE model = %(model)s AND id = %(id)s

-- name: release_slot
DELETE FROM model_permits WHERE model = %(model)s AND id = %(id)s

-- name: reserve
-- Returns the seconds until the reserved start. No row: the next start is farther away than the
-- longest wait. One farther than can ever have been reserved means that the clock was set back.
-- All workers update this row, so its commit does not wait for the disk (measured: 900 per second,
-- without the wait 11,000); if the server crashes, a few calls too many start.
INSERT INTO model_lines AS line (model, next_call_at)
VALUES (%(model)s, clock_timestamp() + make_interval(secs => %(interval)s))
ON CONFLICT (model) DO UPDATE
SET next_call_at = CASE
    WHEN line.next_call_at
         > clock_timestamp() + 2 * make_interval(secs => %(longest)s + %(interval)s)
    THEN excluded.next_call_at
    ELSE greatest(line.next_call_at + make_interval(secs => %(interval)s), excluded.next_call_at)
    END
WHERE line.next_call_at NOT BETWEEN clock_timestamp() + make_interval(secs => %(longest)s)
    AND clock_timestamp() + 2 * make_interval(secs => %(longest)s + %(interval)s)
RETURNING extract(epoch FROM next_call_at - clock_timestamp())::float8 - %(interval)s AS wait,
          set_config('synchronous_commit', 'off', true)

-- name: next_begin
SELECT extract(epoch FROM next_call_at - clock_timestamp())::float8 AS wait
FROM model_lines WHERE model = %(model)s
