import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** The scopes, from least to most powerful. `access-rules.ts` defines which calls require which scope. */
export const scopes = ['read', 'write', 'operate', 'admin'] as const;

export type Scope = (typeof scopes)[number];

/** The properties of a key that can be changed. */
export interface ApiKeyTerms {
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** The queues to which the key is restricted; `null` if it is not restricted. */
  readonly queues: readonly string[] | null;
  /** When the key expires; `null` if it never does. */
  readonly expiresAt: Date | null;
}

/** An API key as it is stored: with its hash instead of its secret. */
export interface ApiKey extends ApiKeyTerms {
  readonly id: string;
  readonly hash: Uint8Array;
  readonly createdAt: Date;
  /** The name of the caller who created the key; `null` if it was created with the `create-key` command. */
  readonly createdBy: string | null;
  /** When the key was last used, accurate to the minute; `null` if it never was. */
  readonly lastUsedAt: Date | null;
}

/** The format of a token: `lsk_{id}_{secret}`. The prefix lets secret scanners recognize leaked tokens. */
const form = /^lsk_([0-9a-f]{16})_[0-9a-f]{64}$/;

/**
 * Generates a key and its token. The token is not stored, so the caller must show it now.
 *
 * The hash is a plain SHA-256. A slow hash protects passwords, which can be guessed, but a token has 256 random bits
 * and cannot be guessed. A slow hash would also delay every request, because each one computes the hash.
 */
export function newApiKey(terms: ApiKeyTerms, createdBy: string | null): { key: ApiKey; token: string } {
  const id = randomBytes(8).toString('hex');
  const token = `lsk_${id}_${randomBytes(32).toString('hex')}`;
  const key = { ...terms, id, hash: hashOf(token), createdAt: new Date(), createdBy, lastUsedAt: null };
  return { key, token };
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
