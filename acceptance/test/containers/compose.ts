import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { house } from '../house/house.js';

const secret = (): string => randomBytes(24).toString('hex');

export const password = secret();
const key = secret();
/** Request headers with the API's admin key. */
export const credentials = { authorization: `Bearer ${key}` };

/** Uses a separate project name and separate ports, so that the tests do not touch a developer's stack. */
const env = {
  ...process.env,
  COMPOSE_PROJECT_NAME: 'longshore-acceptance',
  API_PORT: '18080',
  DASHBOARD_PORT: '18081',
  GATEWAY_PORT: '18000',
  API_TEST_JOB_MS: '2000',
};

const secrets = {
  POSTGRES_PASSWORD: secret(),
  SERVICES_PASSWORD: secret(),
  DASHBOARD_PASSWORD: password,
  API_ADMIN_KEY: key,
};

export const api = `http://localhost:${env.API_PORT}`;
export const dashboard = `http://localhost:${env.DASHBOARD_PORT}/job-dashboard`;
export const gateway = `http://localhost:${env.GATEWAY_PORT}`;

/** Runs `docker compose …` in the repository. Resolves to the standard output. */
export const compose = (...args: string[]): Promise<string> =>
  docker({ ...env, ...secrets }, 'compose', ...args);

/** Like {@link compose}, with all services behind the gateway. */
export const composeGateway = (...args: string[]): Promise<string> =>
  compose('--file', 'compose.yaml', '--file', 'compose.gateway.yaml', ...args);

/** Like {@link compose}, with the jobs on a Citus cluster. */
export const composeOnCitus = (...args: string[]): Promise<string> =>
  docker(
    { ...env, ...secrets, COMPOSE_PROFILES: 'citus', DATABASE_HOST: 'citus', DATABASE_DISTRIBUTION: 'citus' },
    'compose',
    ...args,
  );

/** Like {@link compose}, with a standby that the services use for searches. */
export const composeWithReplica = (...args: string[]): Promise<string> =>
  docker(
    { ...env, ...secrets, COMPOSE_PROFILES: 'replica', DATABASE_SEARCH_HOST: 'replica' },
    'compose',
    ...args,
  );

/** Like {@link compose}, but without secrets, as on a machine where `make up` has never run. */
export const composeWithoutSecrets = (...args: string[]): Promise<string> =>
  docker(env, 'compose', '--env-file', '/dev/null', ...args);

/** Runs `docker compose up --build --wait …`. If a service does not start, the error shows what it logged. */
export async function up(run: typeof compose, ...services: readonly string[]): Promise<void> {
  await run('up', '--build', '--wait', ...services).catch(async (cause: unknown) => {
    const shown = [run('ps', '--all'), run('logs', '--no-color', '--tail=30')];
    throw new Error((await Promise.all(shown)).join('\n'), { cause });
  });
}

/** Returns the state of a service's container, as `docker inspect` shows it. */
export async function inspect(service: string): Promise<ContainerState> {
  const id = (await composeGateway('ps', '--quiet', service)).trim();
  const [state] = JSON.parse(await docker(env, 'inspect', id)) as [ContainerState];
  return state;
}

export interface ContainerState {
  readonly Config: { readonly User: string };
  readonly State: { readonly Health: { readonly Status: string } };
  readonly HostConfig: {
    readonly CapAdd: readonly string[] | null;
    readonly CapDrop: readonly string[] | null;
    readonly Memory: number;
    readonly PidsLimit: number | null;
    readonly PortBindings: Readonly<Record<string, readonly { readonly HostIp: string }[]>>;
    readonly ReadonlyRootfs: boolean;
    readonly SecurityOpt: readonly string[] | null;
  };
}

async function docker(environment: NodeJS.ProcessEnv, ...args: string[]): Promise<string> {
  const options = { cwd: house, env: environment, maxBuffer: 1e8 };
  const { stdout } = await promisify(execFile)('docker', args, options);
  return stdout;
}
