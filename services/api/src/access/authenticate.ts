import { type ApiRequest, type Authenticate, type Principal, unauthorized } from '@longshore/resources';
import { apiKeyId } from './api-key.js';

/** The accepted kinds of credentials; an omitted kind is rejected. */
export interface CredentialKinds {
  /** Knows the bearer of the key that the environment names; undefined if it is another. */
  readonly adminKey?: (token: string) => Principal | undefined;
  readonly apiKey?: (token: string) => Promise<Principal>;
  readonly jsonWebToken?: (token: string) => Promise<Principal>;
}

/** Tells who calls from `Authorization: Bearer …` or `X-Api-Key`. */
export function authenticateWith(kinds: CredentialKinds): Authenticate {
  return async (request) => {
    const token = tokenOf(request);
    if (token === undefined) return undefined;
    const admin = kinds.adminKey?.(token);
    if (admin !== undefined) return admin;
    if (kinds.apiKey !== undefined && apiKeyId(token) !== undefined) return kinds.apiKey(token);
    if (kinds.jsonWebToken !== undefined && token.split('.').length === 3) return kinds.jsonWebToken(token);
    throw unauthorized('The credentials are of no kind that is accepted here');
  };
}

function tokenOf({ headers }: ApiRequest): string | undefined {
  const { authorization, 'x-api-key': apiKey } = headers;
  if (authorization === undefined) return apiKey;
  if (apiKey !== undefined) throw unauthorized('Send Authorization or X-Api-Key, not both');
  const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
  if (token === undefined) throw unauthorized('Authorization must be Bearer and a token');
  return token;
}
