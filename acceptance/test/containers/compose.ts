import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { house } from '../house/house.js';

/** Beside a stack that a developer may have running: other names, other ports, other data. */
const env = {
  ...process.env,
  COMPOSE_PROJECT_NAME: 'longshore-acceptance',
  API_PORT: '18080',
  DASHBOARD_PORT: '18081',
  GATEWAY_PORT: '18000',
  TEST_JOB_MS: '2000',
};

export const api = `http://localhost:${env.API_PORT}`;
export const dashboard = `http://localhost:${env.DASHBOARD_PORT}/job-dashboard`;
export const gateway = `http://localhost:${env.GATEWAY_PORT}`;

/** Runs `docker compose …` in the repository and returns its output. Throws with what it said if it fails. */
export async function compose(...args: string[]): Promise<string> {
  const command = ['compose', '--profile', 'gateway', ...args];
  const { stdout } = await promisify(execFile)('docker', command, { cwd: house, env, maxBuffer: 1e8 });
  return stdout;
}
