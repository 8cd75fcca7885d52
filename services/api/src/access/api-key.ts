import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { apiKeyScopes } from '@longshore/jobs/operations';

export type Scope = (typeof apiKeyScopes)[number];

/** The changeable properties of an API key. */
export interface ApiKeyTerms {
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Queues that the key is restricted to; `null` if the key is not restricted. */
  readonly queues: readonly string[] | null;
  /** When the key expires; `null` if the key never expires. */
  readonly expiresAt: Date | null;
}

/** An API key that is not stored yet. Contains a hash of the token instead of the token. */
export interface NewApiKey extends ApiKeyTerms {
  readonly id: string;
  readonly hash: Uint8Array;
  /** The name of the caller who created the key; `null` if it was created with the `create-key` command. */
  readonly createdBy: string | null;
}

/** A stored API key. Its times come from the storage's clock. */
export interface ApiKey extends NewApiKey {
  readonly createdAt: Date;
  /** When the key was last used, accurate to the minute; `null` if the key was never used. */
  readonly lastUsedAt: Date | null;
}

/** The format of a token: `lsk_{id}_{secret}`. The prefix lets secret scanners recognize leaked tokens. */
const form = /^lsk_([0-9a-f]{16})_[0-9a-f]{64}$/;

/**
 * Generates a key and its token. The token is not stored, so the caller must show it now.
 *
 * The hash is a plain SHA-256. Slow hashes protect passwords, because passwords can be guessed. A token has 256 random
 * bits and cannot be guessed. A slow hash would delay every request, because each request computes the hash.
 */
export function newApiKey(terms: ApiKeyTerms, createdBy: string | null): { key: NewApiKey; token: string } {
  const id = randomBytes(8).toString('hex');
  const token = `lsk_${id}_${randomBytes(32).toString('hex')}`;
  return { key: { ...terms, id, hash: hashOf(token), createdBy }, token };
}

/**
 * Returns the id of the key that a token belongs to; `undefined` if the token does not have the format of an API key.
 */
export function apiKeyId(token: string): string | undefined {
  return form.exec(token)?.[1];
}

export function hashOf(token: string): Uint8Array {
  return createHash('sha256').update(token).digest();
}

/** Returns whether `hash` is the hash of `token`. Compares in constant time. */
export function isHashOf(hash: Uint8Array, token: string): boolean {
  return timingSafeEqual(hash, hashOf(token));
}
