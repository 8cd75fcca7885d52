import { hash, randomBytes, scrypt, scryptSync, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

/** Parameters of scrypt (RFC 7914): 32 MiB of memory, and about 50 ms on a core of 2024. */
const cost = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 };
const derive = promisify<string, Buffer, number, typeof cost, Buffer>(scrypt);

const hashed = /^scrypt:([\w-]{22}):([\w-]{43})$/;

/** A password, in plain text or in the form that {@link hashPassword} returns. Compares in constant time. */
export class Password {
  readonly #key = randomBytes(32).toString('hex');
  readonly #salt: Buffer | null;
  readonly #hash: Buffer;
  /** The digest of the password. If a hash was given, `null` until a password first matches it. */
  #digest: Buffer | null;

  /** @throws {TypeError} if the text begins like a hash but is not one */
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

  async matches(candidate: string): Promise<boolean> {
    const digest = this.#digestOf(candidate);
    // Scripts send their password with each request, so the slow hash is computed only once.
    if (this.#digest !== null && timingSafeEqual(digest, this.#digest)) return true;
    if (this.#salt === null || !timingSafeEqual(await derive(candidate, this.#salt, 32, cost), this.#hash))
      return false;
    this.#digest = digest;
    return true;
  }

  #digestOf(text: string): Buffer {
    // A plain hash is sufficient, because the digest never leaves the process; an HMAC takes twice as long.
    return hash('sha256', this.#key + text, 'buffer');
  }
}

/** Returns a salted scrypt hash, `scrypt:{salt}:{hash}`, which can be configured instead of the password itself. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const derived = await derive(password, salt, 32, cost);
  return `scrypt:${salt.toString('base64url')}:${derived.toString('base64url')}`;
}

/**
 * Derives the key that signs sessions from a secret. Processes with the same secret share sessions, a restart keeps them, and
 * a new secret ends them. Deliberately slow: otherwise a session cookie could be used to guess a password offline.
 */
export function sessionKey(secret: string): Buffer {
  return scryptSync(secret, 'longshore dashboard session', 32, cost);
}
