import { isStorable } from '@longshore/edge';
import { apiKeyScopes } from '@longshore/jobs/operations';
import type { Clock } from '@longshore/jobs/storage';
import { apiError, type Principal, unauthorized } from '@longshore/resources';
import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify } from 'jose';

export interface TokenIssuer {
  readonly issuer: string;
  readonly audience: string;
  /**
   * URL of the issuer's public keys. The keys are read when the first token arrives, and cached for ten minutes. If a
   * token was signed with an unknown key, they are read again, but at most every 30 seconds.
   */
  readonly jwksUrl: string;
  readonly clockToleranceSeconds: number;
  /** The required `typ` header, with or without `application/`. If absent, any value is accepted. */
  readonly typ?: string;
  /** The prefix that marks this API's scopes in tokens; may be empty. */
  readonly scopePrefix: string;
}

/**
 * Accepted signature algorithms. All are asymmetric: with a shared secret, anyone who can verify tokens could also
 * issue them.
 */
const algorithms = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ');

/**
 * Maximum length of a subject, as in OpenID Connect. Longer subjects are rejected rather than truncated, because two
 * different subjects could have the same first 255 characters.
 */
const maxSubjectLength = 255;

/**
 * Messages for invalid tokens, by `jose` error code. Claims that fail validation are handled separately. Any other code
 * means a problem with the issuer's keys or with this service.
 */
const refusals: Readonly<Record<string, string>> = {
  [errors.JWTExpired.code]: 'The token has expired',
  [errors.JWTInvalid.code]: 'The token is not a JWT',
  [errors.JWSInvalid.code]: 'The token is not a JWT',
  [errors.JWSSignatureVerificationFailed.code]: 'The signature of the token is invalid',
  [errors.JWKSNoMatchingKey.code]: 'The token is not signed with a key of the issuer',
  [errors.JWKSMultipleMatchingKeys.code]: 'The token does not identify the key that signed it',
  [errors.JOSEAlgNotAllowed.code]: 'The signature algorithm of the token is not accepted',
  [errors.JOSENotSupported.code]: 'The signature algorithm of the token is not accepted',
};

/**
 * Creates a verifier for JSON Web Tokens of one issuer (RFC 7519, RFC 8725). Scopes are read from the claim `scope`;
 * unknown scopes are ignored.
 *
 * @param clock the storage's clock, which determines when tokens expire
 * @param onUnreachable called with the reason if the issuer's keys cannot be read
 * @returns a function that returns the token's principal. It throws 40101 if the token is invalid, and 50302 if the
 *   issuer's keys cannot be read
 */
export function tokenVerifier(
  { issuer, audience, jwksUrl, clockToleranceSeconds, typ, scopePrefix }: TokenIssuer,
  clock: Clock,
  onUnreachable: (error: unknown) => void,
): (token: string) => Promise<Principal> {
  const keys = createRemoteJWKSet(new URL(jwksUrl));
  const checked = { issuer, audience, algorithms, clockTolerance: clockToleranceSeconds };
  const requiredClaims = ['sub', 'exp'];
  const claimsOf = async (token: string): Promise<JWTPayload> => {
    try {
      const options = { ...checked, requiredClaims, currentDate: new Date(clock.now()) };
      return (await jwtVerify(token, keys, { ...options, ...(typ !== undefined && { typ }) })).payload;
    } catch (error) {
      throw refusalOf(error) ?? unreachable(error, onUnreachable);
    }
  };
  return async (token) => {
    const { sub, scope } = await claimsOf(token);
    const granted = typeof scope === 'string' ? scope.split(' ') : [];
    return {
      name: `subject ${checkSubject(sub)}`,
      scopes: apiKeyScopes.filter((scope) => granted.includes(scopePrefix + scope)),
    };
  };
}

/**
 * Returns the subject of a token. A signature does not make it text: an issuer can put any JSON there.
 *
 * @throws {ApiError} 40101 unless it is a text that names one caller
 */
function checkSubject(subject: unknown): string {
  if (typeof subject !== 'string' || subject === '')
    throw unauthorized('The sub claim of the token is not a text, or is empty');
  if (subject.length > maxSubjectLength)
    throw unauthorized(`The sub claim of the token has more than ${maxSubjectLength} characters`);
  if (!isStorable(subject)) throw unauthorized('The sub claim of the token is not well-formed text');
  return subject;
}

function refusalOf(error: unknown): Error | undefined {
  if (error instanceof errors.JWTClaimValidationFailed)
    return unauthorized(`The claim ${error.claim.replace(/\W/g, '')} of the token is wrong or missing`);
  const reason = error instanceof errors.JOSEError ? refusals[error.code] : undefined;
  return reason === undefined ? undefined : unauthorized(reason);
}

function unreachable(error: unknown, onUnreachable: (error: unknown) => void): Error {
  onUnreachable(error);
  return apiError(50302, 'The keys of the token issuer cannot be read', { 'retry-after': '5' });
}
