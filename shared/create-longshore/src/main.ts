#!/usr/bin/env node
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { createApplication } from './create-application.js';

const usage = 'npm create longshore my-app [-- --no-install]';

try {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { 'no-install': { type: 'boolean', default: false } },
  });
  const [directory] = positionals;
  if (directory === undefined || positionals.length > 1) throw new Error(`Name the directory: ${usage}`);
  await createApplication(directory);
  if (!values['no-install']) install(directory);
  const steps = [`cd ${path.relative('.', directory)}`, ...(values['no-install'] ? ['npm install'] : [])];
  process.stdout.write(`\nCreated ${directory}. Next:\n\n  ${[...steps, 'npm run dev'].join('\n  ')}\n\n`);
} catch (error) {
  process.stderr.write(`create-longshore: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

function install(directory: string): void {
  const { status } = spawnSync('npm', ['install', '--no-audit', '--no-fund'], {
    cwd: directory,
    stdio: 'inherit',
    shell: process.platform === 'win32', // on Windows, npm is a script and needs a shell
  });
  if (status !== 0) throw new Error(`npm install failed; run it again in ${directory}`);
}
