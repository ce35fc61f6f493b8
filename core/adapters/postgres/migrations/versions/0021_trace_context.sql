-- The trace context (W3C) of the call that brought a piece in: {"traceparent", "tracestate"}. Its job
-- works in that trace. Ids alone; nobody but the worker reads it.
ALTER TABLE feedback ADD COLUMN trace jsonb;
