#!/usr/bin/env node
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { createApplication, versionOfLongshore } from './create-application.js';

const usage = `Usage: npm create longshore DIRECTORY [-- OPTIONS]

Creates an application with background jobs on Postgres, and an HTTP API. The directory is created if it does not exist; "." is
the current one. It must be empty, apart from .git.

Options:
  --no-install  only write the files
  --version     print the version
  --help        print this text`;

try {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      'no-install': { type: 'boolean', default: false },
      version: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const [directory] = positionals;
  if (values.help) print(usage);
  else if (values.version) print(await versionOfLongshore());
  else if (directory === undefined || positionals.length > 1)
    throw new Error(`Name one directory.\n\n${usage}`);
  else await create(directory, values['no-install']);
} catch (error) {
  process.stderr.write(`create-longshore: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

async function create(directory: string, isNotInstalled: boolean): Promise<void> {
  await createApplication(directory);
  if (!isNotInstalled) install(directory);
  const place = path.relative('.', directory);
  const steps = [
    ...(place === '' ? [] : [`cd ${place}`]),
    ...(isNotInstalled ? ['npm install'] : []),
    'npm run dev',
  ];
  print(`\nCreated ${path.basename(path.resolve(directory))}. Next:\n\n  ${steps.join('\n  ')}\n`);
}

function install(directory: string): void {
  const { status } = spawnSync('npm', ['install', '--no-audit', '--no-fund'], {
    cwd: directory,
    stdio: 'inherit',
    shell: process.platform === 'win32', // on Windows, npm is a script and needs a shell
  });
  if (status !== 0) throw new Error(`npm install failed; run it again in ${directory}`);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
