#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { CommanderError } from 'commander';
import { createProgram } from './program.js';

if (existsSync('.env')) process.loadEnvFile('.env');
try {
  await createProgram().parseAsync();
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
  else {
    process.stderr.write(`longshore: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
