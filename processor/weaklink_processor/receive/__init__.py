"""OTLP in: validate, bound, and answer only after the queue has it.

What arrives here leaves as protobuf ExportTraceServiceRequests through one async function, `append`.
"""
