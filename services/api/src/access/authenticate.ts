import { type ApiRequest, type Authenticate, type Principal, unauthorized } from '@longshore/resources';
import { apiKeyId } from './api-key.js';

/** One function per accepted kind of credentials. Credentials of any other kind are rejected. */
export interface CredentialKinds {
  /** Returns the admin's principal if the token is the configured admin key; otherwise `undefined`. */
  readonly adminKey?: (token: string) => Principal | undefined;
  readonly apiKey?: (token: string) => Promise<Principal>;
  readonly jsonWebToken?: (token: string) => Promise<Principal>;
}

/**
 * Authenticates callers by the token in `Authorization: Bearer …` or `X-Api-Key`. A request without a token is
 * anonymous.
 */
export function authenticateWith(kinds: CredentialKinds): Authenticate {
  return async (request) => {
    const token = tokenOf(request);
    if (token === undefined) return undefined;
    const admin = kinds.adminKey?.(token);
    if (admin !== undefined) return admin;
    if (kinds.apiKey !== undefined && apiKeyId(token) !== undefined) return kinds.apiKey(token);
    if (kinds.jsonWebToken !== undefined && token.split('.').length === 3) return kinds.jsonWebToken(token);
    throw unauthorized('This kind of credentials is not accepted');
  };
}

function tokenOf({ headers }: ApiRequest): string | undefined {
  const { authorization, 'x-api-key': apiKey } = headers;
  if (authorization === undefined) return apiKey;
  if (apiKey !== undefined) throw unauthorized('Send Authorization or X-Api-Key, not both');
  const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
  if (token === undefined) throw unauthorized('Authorization must be "Bearer" followed by a token');
  return token;
}
