import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** What a caller may be allowed, from least to most; `access-rules.ts` tells which call needs which. */
export const scopes = ['read', 'write', 'operate', 'admin'] as const;

export type Scope = (typeof scopes)[number];

/** The members of a key that can be changed. */
export interface ApiKeyTerms {
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** The only queues that exist for its bearer; `null` for all. */
  readonly queues: readonly string[] | null;
  /** `null`: it does not expire. */
  readonly expiresAt: Date | null;
}

/** A key as it is stored: without its secret. */
export interface ApiKey extends ApiKeyTerms {
  readonly id: string;
  readonly hash: Uint8Array;
  readonly createdAt: Date;
  /** The name of who made it; `null` if that was the command. */
  readonly createdBy: string | null;
  /** To the minute. */
  readonly lastUsedAt: Date | null;
}

/** What a bearer sends: `lsk_{id}_{secret}`. The prefix lets scanners of repositories and logs find a key that leaked. */
const form = /^lsk_([0-9a-f]{16})_[0-9a-f]{64}$/;

/**
 * Makes a key, and the text that its bearer sends and that nobody can get again.
 *
 * The hash is a plain SHA-256: a slow one protects passwords, which can be guessed; 256 random bits cannot, however fast
 * the hash, and each request pays for it.
 */
export function newApiKey(terms: ApiKeyTerms, createdBy: string | null): { key: ApiKey; token: string } {
  const id = randomBytes(8).toString('hex');
  const token = `lsk_${id}_${randomBytes(32).toString('hex')}`;
  const key = { ...terms, id, hash: hashOf(token), createdAt: new Date(), createdBy, lastUsedAt: null };
  return { key, token };
}

/** The id in the text that a bearer sends; undefined if that is no key. */
export function apiKeyId(token: string): string | undefined {
  return form.exec(token)?.[1];
}

export function hashOf(token: string): Uint8Array {
  return createHash('sha256').update(token).digest();
}

/** Whether a hash is that of a token, in a time that tells nothing about either. */
export function isHashOf(hash: Uint8Array, token: string): boolean {
  return timingSafeEqual(hash, hashOf(token));
}
