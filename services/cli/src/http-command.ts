import { misspeltVariables } from '@longshore/service/misspelt-variables';
import type { Command } from 'commander';
import { type Address, Installation, type Item } from './installation.js';
import { print, printError } from './print.js';
import { table } from './table.js';

/** The options of every command that calls a running installation. */
export interface HttpOptions extends Address {
  readonly json?: boolean;
}

/** Adds a command that calls a running installation over HTTP. */
export function addHttpCommand(parent: Command, name: string, description: string): Command {
  return parent
    .command(name)
    .description(description)
    .option(
      '--url <url>',
      'the base URL of the API; default: LONGSHORE_URL',
      variable('LONGSHORE_URL') ?? 'http://localhost:8080',
    )
    .option('--key <token>', 'an API key; default: LONGSHORE_KEY', variable('LONGSHORE_KEY'))
    .option('--json', 'print JSON')
    .hook('preAction', () => {
      for (const warning of misspeltVariables(process.env, [])) printError(warning);
    });
}

/** Reads a collection and prints it. Members of `counts` are columns, too. */
export async function list(options: HttpOptions, path: string, columns: readonly string[]): Promise<void> {
  const items = await new Installation(options).call<Item[]>('GET', path);
  const rowOf = ({ counts, ...item }: Item): Item => ({ ...item, ...(counts as Item | undefined) });
  show(items, options, (all) => (all.length === 0 ? 'none' : table(all.map(rowOf), columns)));
}

/** Prints the content as JSON if that was asked for, otherwise in the given format. */
export function show<Content>(
  content: Content,
  { json = false }: HttpOptions,
  format: (content: Content) => string,
): void {
  print(json ? JSON.stringify(content, null, 2) : format(content));
}

/** Returns an environment variable; `undefined` if it is empty or not set. */
function variable(name: string): string | undefined {
  const value = process.env[name];
  return value === '' ? undefined : value;
}
