import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { refuseEmpty } from './arguments.js';
import { addCompletionCommand } from './completion.js';
import { addHttpCommands } from './http-commands.js';
import { addLocalCommands } from './local-commands.js';
import { addOperationCommands } from './operation-commands.js';

/** Creates the `longshore` command with its subcommands. */
export function createProgram(): Command {
  const program = new Command('longshore')
    .description('Background jobs on Postgres: develop, run the services, and call an installation')
    .version(versionOf('../package.json'))
    .exitOverride()
    .showSuggestionAfterError()
    .hook('preAction', (_program, command) => refuseEmpty(command))
    .addHelpText(
      'after',
      `
Variables are read from the environment and from the file .env in the working directory.

Examples:
  longshore dev src/application.ts             everything in one process, with reload
  longshore worker dist/application.js         runs jobs
  longshore enqueue greet '{"name":"Ada"}' --wait
  longshore jobs --state failed --json
  longshore logs 01a20472-5ed1-7102-9962-bf1f1a0fa733 --follow`,
    );
  addLocalCommands(program);
  addHttpCommands(program);
  addOperationCommands(program);
  addCompletionCommand(program);
  return program;
}

function versionOf(manifest: string): string {
  const { version } = JSON.parse(readFileSync(new URL(manifest, import.meta.url), 'utf8')) as {
    readonly version: string;
  };
  return version;
}
