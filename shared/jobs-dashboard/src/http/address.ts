import { decodePairs, decodePercent, parseUuid, UrlError } from '@longshore/edge';
import type { Context } from 'koa';
import { badRequest } from './problem.js';

/** The sections of the dashboard whose paths contain UUIDs. The names in the paths of others are free. */
const sectionsWithIds = new Set(['jobs', 'batches', 'servers', 'bulk']);

/**
 * Checks that the address of a request can be read: UTF-8 in percent-encoding, without NUL.
 *
 * @throws {Problem} (400) otherwise
 */
export function requireReadableAddress({ path, querystring }: Context): void {
  readable('This address cannot be read', () => {
    decodePercent(path, 'The path');
    decodePairs(querystring);
  });
}

/**
 * Returns the parameters of a path, with UUIDs in lower case.
 *
 * @param route the path of the route, such as `/jobs/:id/log`
 */
export function pathParameters(
  route: string,
  parameters: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  if (!sectionsWithIds.has(route.split('/')[1] ?? '')) return parameters;
  return Object.fromEntries(
    Object.entries(parameters).map(([name, value]) => [name, parseUuid(value) ?? value]),
  );
}

/**
 * Returns the fields of a submitted form, or the parameters of a query in one of them.
 *
 * @throws {Problem} (400) if a field cannot be read
 */
export function formFields(text: string): URLSearchParams {
  return readable(
    'This form cannot be read',
    () => new URLSearchParams(decodePairs(text) as [string, string][]),
  );
}

function readable<Result>(title: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    throw error instanceof UrlError ? badRequest(title, `${error.message}.`) : error;
  }
}
