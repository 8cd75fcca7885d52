import { hash, randomBytes, scryptSync, timingSafeEqual } from 'node:crypto';

/** Compares passwords in constant time. */
export class Password {
  readonly #key = randomBytes(32).toString('hex');
  readonly #expected: Buffer;

  constructor(password: string) {
    this.#expected = this.#digest(password);
  }

  matches(candidate: string): boolean {
    return timingSafeEqual(this.#digest(candidate), this.#expected);
  }

  #digest(text: string): Buffer {
    // Computed for each request of a script. An HMAC takes twice as long, and the digest never leaves the
    // process.
    return hash('sha256', this.#key + text, 'buffer');
  }
}

/**
 * Derives the key that signs sessions from the password, so that processes share sessions, a restart keeps
 * them, and a new password ends them. Slow on purpose (scrypt, RFC 7914): a session cookie could otherwise be
 * used to guess the password offline.
 */
export function sessionKey(password: string): Buffer {
  return scryptSync(password, 'longshore dashboard session', 32, {
    N: 2 ** 15,
    r: 8,
    p: 1,
    maxmem: 64 * 1024 * 1024,
  });
}
