import type { JobClient, JobStorage } from '@longshore/jobs';
import { classifyStorageError, jobsApi } from '@longshore/jobs-api';
import { createResourceApi } from '@longshore/resources';
import { type Application, type Logger, testJob } from '@longshore/service';
import type Koa from 'koa';
import { type ApiConfig, baseUrlOf } from './config.js';

export interface ResourceApiParts {
  readonly storage: JobStorage;
  readonly client: JobClient;
  readonly application: Application;
  readonly config: ApiConfig;
  readonly logger: Logger;
}

/** Everything below `/api`, the error pages, and the error payload for all the rest. */
export function resourceApi({
  storage,
  client,
  application,
  config,
  logger,
}: ResourceApiParts): Koa.Middleware {
  const definitions = [testJob, ...application.handlers.map(({ definition }) => definition)];
  return createResourceApi({
    resources: jobsApi({ storage, client, definitions }),
    baseUrl: baseUrlOf(config),
    prefix: config.PATH_PREFIX,
    classifyError: classifyStorageError,
    errorStack: config.ERROR_STACK ?? (config.NODE_ENV === 'production' ? 'trusted' : 'always'),
    log: {
      incident: ({ error, ...incident }) => logger.error({ err: error, ...incident }, 'unexpected error'),
    },
  });
}
