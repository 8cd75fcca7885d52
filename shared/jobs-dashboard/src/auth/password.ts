import { hash, randomBytes, scryptSync, timingSafeEqual } from 'node:crypto';

/** Compares in a time that tells nothing about how much of the candidate was right, or how long the secret is. */
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
    // Asked for with each request of a script. An HMAC takes twice as long, and this never leaves the process.
    return hash('sha256', this.#key + text, 'buffer');
  }
}

/**
 * The key that signs sessions: the same in every process with this password, so that several containers share their
 * sessions and a restart ends none; another as soon as the password changes. Slow on purpose (scrypt, RFC 7914), as a
 * session cookie could otherwise be used to guess the password offline.
 */
export function sessionKey(password: string): Buffer {
  return scryptSync(password, 'longshore dashboard session', 32, {
    N: 2 ** 15,
    r: 8,
    p: 1,
    maxmem: 64 * 1024 * 1024,
  });
}
