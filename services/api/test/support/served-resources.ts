import { JobEvents, type JobStorage } from '@longshore/jobs';
import { createApplicationDatabase } from 'longshore';
import { createLogger, loadApplication, OutageWatch } from '@longshore/service';
import { serve } from '@longshore/test-support';
import Koa from 'koa';
import { createAccess } from '../../src/access/access.js';
import { memoryApiKeyStore } from '../../src/access/api-key-store.js';
import { readApiConfig } from '../../src/config.js';
import { resourceApi } from '../../src/resource-api.js';
import { testRoute } from '../../src/test-route.js';
import { adminKey } from './running-api.js';

/**
 * Serves the job resources over `storage`, and the resources of the example application over a database that does not
 * exist. API keys are kept in memory; the admin key is {@link adminKey}.
 */
export async function serveResources(
  storage: JobStorage,
  environment: Readonly<Record<string, string>> = {},
): Promise<{ url: string; close: () => Promise<void> }> {
  const database = createApplicationDatabase({ url: 'postgres://nobody@127.0.0.1:1/none' });
  const config = readApiConfig({
    API_STORAGE: 'memory',
    API_AUTH: 'keys',
    API_ADMIN_KEY: adminKey,
    ...environment,
  });
  const logger = createLogger('api', 'silent');
  const outages = new OutageWatch(() => storage.ping(), logger);
  const access = createAccess(
    config,
    memoryApiKeyStore(storage.clock, storage.audit),
    logger,
    storage.clock,
    outages,
  );
  const events = new JobEvents(storage);
  const application = await loadApplication(
    { ...config, LONGSHORE_APP: '@longshore/example-shop' },
    { storage, database: database.pool, logger },
  );
  const app = new Koa();
  const stored = { kind: 'postgres', jobs: storage, application: database } as const;
  app.use(resourceApi({ storage: stored, events, application, access, config, logger }));
  app.use(testRoute(application.client, access, config).routes());
  const handle = app.callback();
  const server = await serve((request, response) => void handle(request, response));
  const close = async (): Promise<void> => {
    await events.close();
    await server.close();
    await database.close();
  };
  return { url: server.url, close };
}
