import { givenSecret } from '@longshore/service/given-values';
import { misspeltVariables } from '@longshore/service/misspelt-variables';
import type { Command } from 'commander';
import { type Item, print, printError, table } from './output.js';

/** The address of a running installation, and the API key for it. */
interface Address {
  /** The base URL of the API, such as `https://example.com`, with or without `/api/v1`. */
  readonly url: string;
  readonly key?: string | undefined;
}

interface Refusal {
  readonly errors?: readonly { readonly internalMessage: string }[];
}

/** A client for the HTTP API of a running installation. */
export class Installation {
  readonly #address: Address;

  /**
   * Without a key, takes the one that the environment contains or names a file for.
   *
   * @throws {Error} if `address.url` is not an HTTP or HTTPS URL, or the file of the key cannot be read
   */
  constructor(address: Address) {
    if (!/^https?:\/\/./.test(address.url) || !URL.canParse(address.url))
      throw new Error(`"${address.url}" is not a URL such as https://example.com`);
    this.#address = { ...address, key: address.key ?? keyInEnvironment() };
  }

  /**
   * Sends a request to the API and returns the parsed response.
   *
   * @throws {Error} if the API rejects the request or does not respond
   */
  async call<Answer>(method: string, path: string, body?: object): Promise<Answer> {
    const { url, key } = this.#address;
    const base = url.replace(/\/+$/, '').replace(/\/api(?:\/v1)?$/i, '');
    const target = new URL(`${base}/api/v1/${path}`);
    const headers = {
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(body && { 'content-type': 'application/json' }),
    };
    const response = await fetch(target, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    }).catch((error: unknown) => {
      throw new Error(`${url} does not respond; set the address of the API with --url or LONGSHORE_URL`, {
        cause: error,
      });
    });
    const answer: unknown = await response.json().catch(() => ({}));
    if (response.ok) return answer as Answer;
    const messages = (answer as Refusal).errors?.map(({ internalMessage }) => internalMessage) ?? [];
    if (response.status === 401) messages.push('set a key with --key, LONGSHORE_KEY or LONGSHORE_KEY_FILE');
    throw new Error(messages.length > 0 ? messages.join('; ') : `${target.href} answered ${response.status}`);
  }
}

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
    .option(
      '--key <token>',
      'an API key; default: LONGSHORE_KEY, or the content of the file LONGSHORE_KEY_FILE',
    )
    .option('--json', 'print JSON')
    .hook('preAction', () => {
      for (const warning of misspeltVariables(process.env, [])) printError(warning);
    });
}

/** Reads a collection and prints it. Members of `counts` are columns, too. */
export async function list(options: HttpOptions, path: string, columns: readonly string[]): Promise<void> {
  const items = await new Installation(options).call<Item[]>('GET', path);
  const rowOf = ({ counts, ...item }: Item): Item => ({ ...item, ...(counts as Item | undefined) });
  show(items, options, (rows) => (rows.length === 0 ? 'none' : table(rows.map(rowOf), columns)));
}

/** Prints the content as JSON if that was asked for, otherwise in the given format. */
export function show<Content>(
  content: Content,
  { json = false }: HttpOptions,
  format: (content: Content) => string,
): void {
  print(json ? JSON.stringify(content, null, 2) : format(content));
}

function keyInEnvironment(): string | undefined {
  const given = givenSecret('LONGSHORE_KEY', process.env);
  if (given instanceof Error) throw given;
  return given?.text;
}

/** Returns an environment variable; `undefined` if it is empty or not set. */
function variable(name: string): string | undefined {
  const value = process.env[name];
  return value === '' ? undefined : value;
}

const final = new Set(['done', 'failed', 'cancelled']);

/**
 * Pause after the first read of the job. Each later pause is twice as long as the previous one, up to `maxIntervalMs`.
 */
const firstIntervalMs = 50;
const maxIntervalMs = 500;

const pageSize = 100;

/**
 * Reads a job, and passes its log lines and its progress to callbacks.
 *
 * @param untilFinished whether to read the job repeatedly until it has finished, instead of once
 * @param onLine called with each line of the log, from the beginning
 * @param onProgress called when the percentage (0 to 100) or its message has changed
 * @returns the job as it was last read
 */
export async function follow(
  installation: Installation,
  id: string,
  untilFinished: boolean,
  onLine: (line: Item) => void,
  onProgress: (percent: number, message: string | null) => void = () => undefined,
): Promise<Item> {
  let lines = 0;
  let shown = '';
  for (let intervalMs = firstIntervalMs; ; intervalMs = Math.min(2 * intervalMs, maxIntervalMs)) {
    // Reads the job before its log, so that the log of a finished job is complete.
    const job = await installation.call<Item>('GET', `jobs/${id}`);
    for (;;) {
      const page = await installation.call<Item[]>(
        'GET',
        `jobs/${id}/logs?limit=${pageSize}&offset=${lines}`,
      );
      for (const line of page) onLine(line);
      lines += page.length;
      if (page.length < pageSize) break;
    }
    const progress = job['progress'] as { percent: number; message: string | null } | null;
    if (progress !== null && JSON.stringify(progress) !== shown) {
      shown = JSON.stringify(progress);
      onProgress(progress.percent, progress.message);
    }
    if (!untilFinished || final.has(String(job['state']))) return job;
    await new Promise((resolve) => setTimeout(resolve, intervalMs));
  }
}
