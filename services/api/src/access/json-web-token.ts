import { ApiError, apiError, type Principal, unauthorized } from '@longshore/resources';
import { createRemoteJWKSet, errors, jwtVerify } from 'jose';
import { scopes } from './api-key.js';

export interface TokenIssuer {
  readonly issuer: string;
  readonly audience: string;
  /** Where its public keys are; read when the first token comes, kept for ten minutes, and read again for an unknown key. */
  readonly jwksUrl: string;
  readonly clockToleranceSeconds: number;
  /** What the header `typ` must be, `application/` left out or not; any unless given. */
  readonly typ?: string;
  /** What a scope begins with in tokens, and not here; '' for nothing. */
  readonly scopePrefix: string;
}

/** Signatures by a private key: with a shared secret, whoever can check a token could make one. */
const algorithms = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ');

/** As OpenID Connect has it. A longer one is not cut, for two people may have the beginning in common. */
const longestSubject = 255;

/** What is wrong with the token itself; anything else is wrong with the issuer's keys, or with us. */
const refusals: Readonly<Record<string, string>> = {
  [errors.JWTExpired.code]: 'The token has expired',
  [errors.JWTInvalid.code]: 'The token is no JWT',
  [errors.JWSInvalid.code]: 'The token is no JWT',
  [errors.JWSSignatureVerificationFailed.code]: 'The signature of the token is wrong',
  [errors.JWKSNoMatchingKey.code]: 'The token is signed by no key of the issuer',
  [errors.JWKSMultipleMatchingKeys.code]: 'The token does not tell which key of the issuer signed it',
  [errors.JOSEAlgNotAllowed.code]: 'The token is signed in a way that is not accepted',
  [errors.JOSENotSupported.code]: 'The token is signed in a way that is not accepted',
};

/**
 * Knows bearers by the JSON Web Tokens of one issuer (RFC 7519, RFC 8725). Scopes are those of the claim `scope`; words that
 * mean nothing here are ignored.
 *
 * @param onUnreachable gets why the issuer's keys could not be read
 * @returns a function that throws 40101 for a token that does not hold, and 50302 if the issuer's keys cannot be read
 */
export function tokenVerifier(
  { issuer, audience, jwksUrl, clockToleranceSeconds, typ, scopePrefix }: TokenIssuer,
  onUnreachable: (error: unknown) => void,
): (token: string) => Promise<Principal> {
  const keys = createRemoteJWKSet(new URL(jwksUrl));
  const required = ['sub', 'exp'];
  return async (token) => {
    try {
      const clockTolerance = clockToleranceSeconds;
      const checked = { issuer, audience, clockTolerance, algorithms, requiredClaims: required };
      const { payload } = await jwtVerify(token, keys, { ...checked, ...(typ !== undefined && { typ }) });
      const { sub = '', scope } = payload;
      if (sub.length > longestSubject)
        throw unauthorized(`The claim sub of the token has more than ${longestSubject} characters`);
      const held = typeof scope === 'string' ? scope.split(' ') : [];
      return {
        name: `subject ${sub}`,
        scopes: scopes.filter((known) => held.includes(scopePrefix + known)),
      };
    } catch (error) {
      throw error instanceof ApiError ? error : (refusalOf(error) ?? unreachable(error, onUnreachable));
    }
  };
}

function refusalOf(error: unknown): Error | undefined {
  if (error instanceof errors.JWTClaimValidationFailed)
    return unauthorized(`The claim ${error.claim.replace(/\W/g, '')} of the token is wrong or missing`);
  const reason = error instanceof errors.JOSEError ? refusals[error.code] : undefined;
  return reason === undefined ? undefined : unauthorized(reason);
}

function unreachable(error: unknown, onUnreachable: (error: unknown) => void): Error {
  onUnreachable(error);
  return apiError(50302, "The keys of the tokens' issuer cannot be read", { 'retry-after': '5' });
}
