import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { UnreachableError } from './errors.js';
import { hostsOfUrl } from './host-list.js';

/** A URL as an option contains it, and the path of its file if it is in one. */
interface GivenUrl {
  readonly url: unknown;
  readonly file?: string;
}

/**
 * Returns the URL that an option contains, or that is in the file whose `file:` URL it contains.
 *
 * @param option name of the option, for error messages
 * @throws {RangeError} if the file cannot be read
 */
export function urlIn(option: string, given: unknown): GivenUrl {
  if (typeof given !== 'string' || !given.startsWith('file:')) return { url: given };
  try {
    const file = fileURLToPath(given);
    return { url: withoutLineBreak(readFileSync(file, 'utf8')), file };
  } catch (error) {
    throw new RangeError(`${option} names a file that cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

export function isDatabaseUrl(url: unknown): url is string {
  return typeof url === 'string' && /^postgres(ql)?:\/\/./.test(url);
}

/** @throws {RangeError} if the driver cannot read a URL, or one of the files of certificates that it names */
export function requireReadable(option: string, url: string): void {
  try {
    credentialsIn(url);
  } catch (error) {
    // Messages of the driver do not contain the URL, but its errors could. They are therefore not the cause.
    throw new RangeError(
      `${option} cannot be used: ${messageOf(error)}. Special characters in the user and the password must be encoded, such as %40 for @`,
    );
  }
}

/**
 * Gives a client that is not connected yet the user and the password that are now in the file of its URL, if it has one.
 * Everything else in the file is ignored, because two connections of a store must not lead to different databases.
 *
 * @throws {UnreachableError} if the file does not contain a usable URL, which is tried again like any failure to connect
 */
export async function renewCredentials(
  client: pg.Client,
  { urlFile: file }: { readonly urlFile?: string },
): Promise<void> {
  if (file === undefined) return;
  const { user, password } = await credentialsOf(file);
  const { connectionParameters } = client as unknown as { connectionParameters: object };
  Object.assign(client, { user, password });
  Object.assign(connectionParameters, { user, password });
  requireOpen(client);
}

/** @throws {UnreachableError} if a client that is not connected yet has been closed */
export function requireOpen(client: pg.Client): void {
  const { connection } = client as unknown as { connection: { stream: { destroyed?: boolean } } };
  if (connection.stream.destroyed === true) throw new UnreachableError('The connection was closed meanwhile');
}

async function credentialsOf(file: string): Promise<Pick<pg.Client, 'user' | 'password'>> {
  const summary = 'The file with the URL of the database cannot be read';
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new UnreachableError(`${summary}: ${messageOf(error)}`, { cause: error, summary });
  });
  try {
    const url = withoutLineBreak(text);
    if (isDatabaseUrl(url)) return credentialsIn(hostsOfUrl('url', url).url);
  } catch {
    // The error could contain the password.
  }
  throw new UnreachableError(`The file ${file} does not contain a usable URL of a database`, { summary });
}

/** Returns the user and the password in a URL as the driver reads it. */
function credentialsIn(url: string): Pick<pg.Client, 'user' | 'password'> {
  const { user, password } = new pg.Client({ connectionString: url });
  return { user, password };
}

function withoutLineBreak(text: string): string {
  return text.replace(/\r?\n$/, '');
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
