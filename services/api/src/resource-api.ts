import type { JobClient, JobDefinition, JobEvents } from '@longshore/jobs';
import { classifyStorageError, jobsApi } from '@longshore/jobs-api';
import { createResourceApi, type Enqueue, tableIdempotencyStore } from '@longshore/resources';
import { type AssembledApplication, listOf, type Logger, testJob } from '@longshore/service';
import type Koa from 'koa';
import { type Access, queueRowScopes, scopeRules } from './access/access.js';
import { apiChangelog } from './api-changelog.js';
import { requestGuard } from './access/request-guard.js';
import { type ApiConfig, baseUrlOf, rootUrlOf } from './config.js';
import { apiTables, type Storage } from './storage.js';

export interface ResourceApiParts {
  readonly storage: Storage;
  readonly client: JobClient;
  readonly events: JobEvents;
  readonly application: AssembledApplication;
  readonly access: Access;
  readonly config: ApiConfig;
  readonly logger: Logger;
}

/**
 * Serves the API under `/api` and the error pages under `/errors`. If later middleware throws, or leaves an error
 * status without a body, the API sends an error payload.
 */
export function resourceApi(parts: ResourceApiParts): Koa.Middleware {
  const { client, events, application, access, config, logger } = parts;
  const { kind, jobs: storage, application: database } = parts.storage;
  const definitions = [testJob, ...application.handlers.map(({ definition }) => definition)];
  const jobs = jobsApi({
    storage,
    client,
    events,
    definitions,
    acceptUnknownJobs: config.API_ACCEPT_UNKNOWN_JOBS,
    requiresReasons: config.API_REQUIRE_REASONS,
    ...(config.API_MAX_BACKLOG !== undefined && { maxBacklog: config.API_MAX_BACKLOG }),
    ...(config.API_MAX_WAITING !== undefined && { maxWaiting: config.API_MAX_WAITING }),
    quotas: {
      queues: {
        perCaller: config.API_MAX_QUEUES_PER_CALLER,
        total: config.API_MAX_QUEUES ?? Math.ceil(config.DATABASE_MAX_QUEUES / 2),
      },
      recurringJobs: {
        perCaller: config.API_MAX_RECURRING_JOBS_PER_CALLER,
        total: config.API_MAX_RECURRING_JOBS,
      },
      deployments: {
        perCaller: config.API_MAX_DEPLOYMENTS_PER_CALLER,
        total: config.API_MAX_DEPLOYMENTS,
      },
      minIntervalSeconds: config.API_MIN_RECURRING_INTERVAL_SECONDS,
    },
  });
  return createResourceApi({
    resources: [...jobs, ...access.resources, ...(application.tables?.resources ?? [])],
    ...(kind === 'postgres' && {
      idempotency: tableIdempotencyStore(database.pool, apiTables(config).idempotencyRecords),
    }),
    platform: {
      database: database.pool,
      reads: database.reads,
      enqueue: enqueueWith(client, definitions),
    },
    ...(access.authenticate && { authenticate: access.authenticate }),
    ...(access.rateLimit && { rateLimit: access.rateLimit }),
    listenerLimits: { total: config.API_MAX_LISTENERS, perCaller: config.API_MAX_LISTENERS_PER_CALLER },
    securitySchemes: access.securitySchemes,
    scopeOf: scopeRules(new Set(jobs.map(({ name }) => name))),
    rowScopes: queueRowScopes(definitions),
    corsOrigins: listOf(config.API_CORS_ORIGINS ?? '', 'API_CORS_ORIGINS'),
    guard: requestGuard(config),
    info: {
      title: 'Longshore',
      description: introduction(application.name, config, access.authenticate !== undefined),
      version: '1.0.0',
      changes: apiChangelog,
      groups: [
        { title: 'Background jobs', resources: jobs.map(({ name }) => name) },
        { title: 'Access', resources: access.resources.map(({ name }) => name) },
        { title: application.name, resources: (application.tables?.resources ?? []).map(({ name }) => name) },
      ],
    },
    baseUrl: baseUrlOf(config),
    prefix: config.API_PATH_PREFIX,
    bodyLimitBytes: config.API_BODY_LIMIT_BYTES,
    classifyError: classifyStorageError,
    errorStack: config.API_ERROR_STACK ?? (config.NODE_ENV === 'production' ? 'trusted' : 'always'),
    log: {
      incident: ({ error, ...incident }) => logger.error({ err: error, ...incident }, 'unexpected error'),
    },
  });
}

/** Returns the introduction of the API reference, in Markdown. */
function introduction(application: string, config: ApiConfig, needsKey: boolean): string {
  const key = needsKey ? ' -H "Authorization: Bearer $KEY"' : '';
  return `Longshore runs background jobs on Postgres. This API enqueues jobs, shows their states and results, and manages queues, servers, recurring jobs and batches. It also serves the resources of the application \`${application}\`.

Enqueue a first job; the response arrives once the job is durable:

\`\`\`sh
curl ${rootUrlOf(config)}/api/v1/jobs${key} \\
  --json '{ "name": "test", "args": { "waitMs": 10 } }'
\`\`\``;
}

/** Returns a function that enqueues a job by name in the transaction of a resource operation. */
function enqueueWith(client: JobClient, definitions: readonly JobDefinition[]): Enqueue {
  const byName = new Map(definitions.map((definition) => [definition.name, definition]));
  return async (transaction, name, args) => {
    const definition = byName.get(name);
    if (definition === undefined) throw new Error(`The application has no job "${name}"`);
    const { id } = await client.enqueue(definition, args, { transaction });
    return id;
  };
}
