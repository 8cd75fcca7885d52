import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** The scopes, from least to most powerful; `access-rules.ts` defines which call requires which. */
export const scopes = ['read', 'write', 'operate', 'admin'] as const;

export type Scope = (typeof scopes)[number];

/** The members of a key that can be changed. */
export interface ApiKeyTerms {
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** The only queues that the bearer can see; `null` for all. */
  readonly queues: readonly string[] | null;
  /** `null` if it does not expire. */
  readonly expiresAt: Date | null;
}

/** A stored key, without its secret. */
export interface ApiKey extends ApiKeyTerms {
  readonly id: string;
  readonly hash: Uint8Array;
  readonly createdAt: Date;
  /** The name of its creator; `null` if the command created it. */
  readonly createdBy: string | null;
  /** To the minute. */
  readonly lastUsedAt: Date | null;
}

/** The format of a key: `lsk_{id}_{secret}`. The prefix lets secret scanners recognize leaked keys. */
const form = /^lsk_([0-9a-f]{16})_[0-9a-f]{64}$/;

/**
 * Generates a key and its token, which is shown only once.
 *
 * The hash is a plain SHA-256. Slow hashes protect passwords, which can be guessed; 256 random bits cannot, and every
 * request has to compute the hash.
 */
export function newApiKey(terms: ApiKeyTerms, createdBy: string | null): { key: ApiKey; token: string } {
  const id = randomBytes(8).toString('hex');
  const token = `lsk_${id}_${randomBytes(32).toString('hex')}`;
  const key = { ...terms, id, hash: hashOf(token), createdAt: new Date(), createdBy, lastUsedAt: null };
  return { key, token };
}

/** Returns the id of a token; `undefined` if it is not an API key. */
export function apiKeyId(token: string): string | undefined {
  return form.exec(token)?.[1];
}

export function hashOf(token: string): Uint8Array {
  return createHash('sha256').update(token).digest();
}

/** Compares a hash with that of a token in constant time. */
export function isHashOf(hash: Uint8Array, token: string): boolean {
  return timingSafeEqual(hash, hashOf(token));
}
