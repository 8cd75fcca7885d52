import { hash, randomBytes, scrypt, scryptSync, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

/** Parameters of scrypt (RFC 7914): 32 MiB of memory, and about 50 ms on a CPU core from 2024. */
const cost = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 };
const derive = promisify<string, Buffer, number, typeof cost, Buffer>(scrypt);

const hashed = /^scrypt:([\w-]{22}):([\w-]{43})$/;

/** Returns whether the text is a hash from {@link hashPassword} rather than a password. */
export function isHash(text: string): boolean {
  return hashed.test(text);
}

/**
 * Checks candidates against a password that is given as plain text or as a hash from {@link hashPassword}. Compares in
 * constant time.
 */
export class Password {
  readonly #key = randomBytes(32).toString('hex');
  readonly #salt: Buffer | null;
  readonly #hash: Buffer;
  /** Digest of the password. If a hash was given, `null` until a candidate first matches it. */
  #digest: Buffer | null;

  /** @throws {TypeError} if the text begins like a hash but is not a complete one */
  constructor(text: string) {
    const [, salt, expected = ''] = hashed.exec(text) ?? [];
    if (salt === undefined && text.startsWith('scrypt:'))
      throw new TypeError(
        'The hash of a password is incomplete. Create hashes with the command hash-password.',
      );
    this.#salt = salt === undefined ? null : Buffer.from(salt, 'base64url');
    this.#hash = Buffer.from(expected, 'base64url');
    this.#digest = salt === undefined ? this.#digestOf(text) : null;
  }

  /**
   * Returns whether the candidate matches, without computing the slow hash. If the password was given as a hash,
   * returns `false` until {@link matches} has accepted a candidate.
   */
  isKnown(candidate: string): boolean {
    return this.#digest !== null && timingSafeEqual(this.#digestOf(candidate), this.#digest);
  }

  async matches(candidate: string): Promise<boolean> {
    // Scripts send the password with every request. Only the first request computes the slow hash.
    if (this.isKnown(candidate)) return true;
    if (this.#salt === null || !timingSafeEqual(await derive(candidate, this.#salt, 32, cost), this.#hash))
      return false;
    this.#digest = this.#digestOf(candidate);
    return true;
  }

  #digestOf(text: string): Buffer {
    // A plain hash is sufficient, because the digest never leaves the process. An HMAC would take twice as long.
    return hash('sha256', this.#key + text, 'buffer');
  }
}

/** Returns a salted scrypt hash, `scrypt:{salt}:{hash}`. The hash can be configured instead of the password. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const derived = await derive(password, salt, 32, cost);
  return `scrypt:${salt.toString('base64url')}:${derived.toString('base64url')}`;
}

/**
 * Derives the key that signs sessions. Processes with the same configuration share sessions, and sessions survive a
 * restart. Sessions end when the users, their passwords or the provider change. The derivation is deliberately slow, so
 * that an attacker with a session cookie cannot test many passwords offline.
 *
 * @param secret the configured secret; can be empty if `access` contains a secret
 * @param access the configured users, password or provider
 */
export function sessionKey(secret: string, access: unknown): Buffer {
  return scryptSync(JSON.stringify([secret, access]), 'longshore dashboard session', 32, cost);
}
