/**
 * Spans of OpenTelemetry for jobs.
 *
 * @module longshore/tracing
 */
export * from '@longshore/jobs/tracing';
