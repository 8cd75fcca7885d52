import { apiVariables, findApiProblems, readApiConfig, startApi } from '@longshore/api';
import {
  dashboardServiceVariables,
  findDashboardProblems,
  readDashboardConfig,
  startDashboard,
} from '@longshore/dashboard';
import { createLogger, type Environment, problemsOf, type RunningService } from '@longshore/service';
import { findWorkerProblems, readWorkerConfig, startWorker, workerVariables } from '@longshore/worker';
import { expect } from 'chai';
import type { TObject } from 'typebox';

interface Checked {
  readonly variables: TObject;
  readonly read: (environment: Environment) => object;
  readonly findProblems: (environment: Environment) => Promise<readonly string[]>;
  readonly start: (
    environment: Environment,
    write: (line: string) => void,
    signal: AbortSignal,
  ) => Promise<RunningService>;
}

const services: Readonly<Record<string, Checked>> = {
  api: {
    variables: apiVariables,
    read: readApiConfig,
    findProblems: findApiProblems,
    start: (environment, write, signal) =>
      startApi(readApiConfig(environment), createLogger('test', 'info', write), signal),
  },
  worker: {
    variables: workerVariables,
    read: readWorkerConfig,
    findProblems: findWorkerProblems,
    start: (environment, write, signal) =>
      startWorker(readWorkerConfig(environment), createLogger('test', 'info', write), signal),
  },
  dashboard: {
    variables: dashboardServiceVariables,
    read: readDashboardConfig,
    findProblems: findDashboardProblems,
    start: (environment, write, signal) =>
      startDashboard(readDashboardConfig(environment), createLogger('test', 'info', write), signal),
  },
};

/** A database that never answers, so that a service that has created everything waits for it. */
const waiting = {
  PORT: '0',
  DATABASE_URL: 'postgres://longshore@127.0.0.1:1/none',
  LONGSHORE_APP: '@longshore/example-shop',
  API_EMBEDDED_SERVER: 'true',
  API_EMBEDDED_DASHBOARD: 'true',
};

/** Variables that have an effect only together with others. */
const contexts: readonly (readonly [RegExp, Environment])[] = [
  [
    /^API_JWT_/,
    {
      API_AUTH: 'jwt',
      API_JWT_ISSUER: 'x',
      API_JWT_AUDIENCE: 'x',
      API_JWT_JWKS_URL: 'https://id.example/keys',
    },
  ],
  [
    /^DASHBOARD_(OIDC_|BASE_URL$|ROLES$)/,
    {
      DASHBOARD_OIDC_ISSUER: 'https://id.example',
      DASHBOARD_OIDC_CLIENT_ID: 'x',
      DASHBOARD_BASE_URL: 'https://ops.example',
      DASHBOARD_DEFAULT_ROLE: 'viewer',
    },
  ],
  [
    /^DASHBOARD_(PROXY_|DEFAULT_ROLE$)/,
    {
      DASHBOARD_PROXY_USER_HEADER: 'x-user',
      DASHBOARD_PROXY_ADDRESSES: '10.0.0.0/8',
      DASHBOARD_DEFAULT_ROLE: 'viewer',
    },
  ],
  [/^DASHBOARD_ALERT_/, { DASHBOARD_ALERT_URLS: 'https://hooks.example/secret' }],
];

/** Whether a service starts with these also depends on the network and on other modules. */
const untried = new Set(['HOST', 'LONGSHORE_APP', 'OTEL_EXPORTER_OTLP_ENDPOINT']);

const numbers = ['x', '-1', '1.5', '9007199254740993'];
const texts = [
  ',',
  'a b',
  'https://x/{nope}',
  'postgres://u:hunter2@[/x',
  'postgres://a,b:hunter2/c',
  'postgres://x/y?target_session_attrs=z',
  'ann:viewer:hunter2,ann:viewer:hunter2',
  'ann:viewer:scrypt:hunter2',
  'scrypt:hunter2',
  'information_schema',
  'a=0,b=1',
];

for (const [service, { variables, read, findProblems, start }] of Object.entries(services))
  describe(`--check of the service ${service}`, () => {
    /** Returns the error with which the service does not start; `null` if it waits for its database. */
    async function startError(environment: Environment): Promise<unknown> {
      const abort = new AbortController();
      const write = (line: string): void => {
        if (line.includes('ECONNREFUSED')) abort.abort();
      };
      try {
        const running = await start(environment, write, abort.signal);
        await running.stop();
        return 'started without a database';
      } catch (error) {
        return error === abort.signal.reason ? null : error;
      }
    }

    const problemsWith = async (environment: Environment): Promise<readonly string[]> => [
      ...problemsOf(() => read(environment)),
      ...(await findProblems(environment)),
    ];

    it('finds nothing where the service starts', async () => {
      expect([await problemsWith(waiting), await startError(waiting)]).to.deep.equal([[], null]);
    });

    for (const [name, definition] of Object.entries(variables.properties))
      if (!untried.has(name))
        it(`finds each value of ${name} with which the service does not start, and names it`, async () => {
          const { type, secret } = definition as { readonly type?: string; readonly secret?: boolean };
          const [, context = {}] = contexts.find(([pattern]) => pattern.test(name)) ?? [];
          for (const value of type === 'integer' ? numbers : texts) {
            const environment = { ...waiting, ...context, [name]: value };
            const problems = await problemsWith(environment);
            const shown = `${name}=${value}: ${problems.join('; ')}`;
            if (problems.length === 0) expect(await startError(environment), shown).to.equal(null);
            else
              expect(
                problems.some((problem) => problem.includes(name)),
                shown,
              ).to.equal(true);
            if (secret === true) expect(problems.join(), shown).not.to.contain('hunter2');
            for (const problem of problems) expect(problem, shown).not.to.match(/\.$|\bpattern\b/);
          }
        });
  });
