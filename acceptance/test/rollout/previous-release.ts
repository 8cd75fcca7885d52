import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { house } from '../house/house.js';

const execute = promisify(execFile);

/**
 * The version that this one replaces. Nothing has been released yet: this is the first commit with the
 * schema of the first release.
 */
const previousRelease = 'dd666e456d67aa5fbf34ae685600e908763b9909';

/** Exports the previous release below `.data` and builds its services there, once. Returns its root. */
export async function buildPreviousRelease(): Promise<string> {
  const root = path.join(house, '.data', 'rollout', previousRelease);
  const built = path.join(root, '.built');
  if (existsSync(built)) return root;
  await rm(root, { recursive: true, force: true });
  await mkdir(root, { recursive: true });
  // An export rather than a work tree, which would leave traces in the repository.
  await execute('sh', ['-c', `git archive ${previousRelease} | tar -x -C "${root}"`], { cwd: house });
  await execute('npm', ['ci', '--no-audit', '--no-fund', '--prefer-offline'], { cwd: root });
  const services = ['services/api', 'services/worker', 'services/dashboard'];
  await execute(path.join(root, 'node_modules/.bin/tsc'), ['-b', ...services], { cwd: root });
  await mkdir(built);
  return root;
}
