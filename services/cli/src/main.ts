#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { CommanderError, InvalidArgumentError } from 'commander';
import { printError } from './output.js';
import { createProgram } from './program.js';

// Exits quietly if a reader such as `head` closes the pipe early.
process.stdout.on('error', () => process.exit());
if (existsSync('.env')) process.loadEnvFile('.env');
try {
  await createProgram().parseAsync();
} catch (error) {
  const isWrongCall = error instanceof CommanderError;
  // Commander prints its own errors, but not errors thrown by actions.
  if (!isWrongCall || error instanceof InvalidArgumentError)
    printError(`longshore: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = isWrongCall ? (error.exitCode === 0 ? 0 : 2) : 1;
}
