import { hash, randomBytes, scrypt, scryptSync, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { networkOf, Throttle } from '@longshore/edge';
import type { Context } from 'koa';
import pLimit from 'p-limit';
import { Problem } from '../http/problem.js';
import type { AccessEvent, OnAccess, Role, Viewer } from './authenticator.js';

/** After ten wrong passwords, further wrong ones of a client are answered with 429, except for one a minute. */
const failures = { burst: 10, perSecond: 1 / 60 };

/** After 100 wrong passwords, even the right password of a client is answered with 429, except for 100 a minute. */
const tries = { burst: 100, perSecond: 100 / 60 };

/** Maximum number of passwords waiting to be checked. Further passwords are answered with 503. */
const MAX_WAITING = 10;

/** A user who signs in with a name and a password. */
export interface User {
  /** The user's name, shown on every page and in audit entries. */
  readonly name: string;
  readonly role: Role;
  /** A password of at least 8 characters, or a hash from {@link hashPassword}. */
  readonly password: string;
}

interface Account {
  readonly viewer: Viewer;
  readonly password: Password;
}

/** Checks the passwords of users, or one password that all users share, and limits how often a client can guess. */
export class Passwords {
  readonly #shared: Password | null;
  readonly #users: ReadonlyMap<string, Account>;
  /** Checked if no user has the given name, so that rejecting an unknown name takes as long as a wrong password. */
  readonly #decoyPassword: Password;
  readonly #failures: Throttle;
  readonly #tries: Throttle;
  readonly #onAccess: OnAccess;
  /**
   * Checks passwords one at a time. Comparing a password with a hash occupies a thread of Node's pool, and DNS lookups
   * and file access need these threads too. Running one check at a time also keeps the limits exact, because each wrong
   * password is counted before the next check begins.
   */
  readonly #oneAtATime = pLimit(1);

  /**
   * @throws {TypeError} if two users have the same name, a name is empty, or a password is too short or an incomplete
   *   hash
   */
  constructor(passwords: string | readonly User[], now: () => number, onAccess: OnAccess) {
    const users = typeof passwords === 'string' ? [] : passwords;
    this.#shared = typeof passwords === 'string' ? new Password(passwords) : null;
    this.#users = new Map(
      users.map(({ name, role, password }) => [
        name,
        { viewer: { name, role }, password: new Password(password) },
      ]),
    );
    if (this.#users.size < users.length) throw new TypeError('Two users of the dashboard have the same name');
    if (users.some(({ name, password }) => name === '' || password.length < 8))
      throw new TypeError('Users of the dashboard need a name and a password of at least 8 characters');
    this.#decoyPassword = new Password(
      (users.find(({ password }) => isHash(password)) ?? users[0])?.password ?? '',
    );
    this.#failures = new Throttle(failures, now);
    this.#tries = new Throttle(tries, now);
    this.#onAccess = onAccess;
  }

  /** Whether each user has their own password. If so, the sign-in form also asks for a name. */
  get named(): boolean {
    return this.#shared === null;
  }

  /**
   * Returns the viewer who signs in; `null` if the name or the password is wrong. A client that has reached the limit of
   * {@link failures}, but not that of {@link tries}, can still sign in with the right password, because several people can
   * share an address, for example behind an untrusted gateway.
   *
   * @throws {Problem} (429) if the client has sent too many wrong passwords, (503) if too many passwords are waiting to
   *   be checked
   */
  async check(ctx: Context, name: string, password: string): Promise<Viewer | null> {
    const account = this.#accountOf(name);
    if (this.#tries.waitMs(networkOf(ctx.ip)) > 0) return this.#refuse(ctx);
    if (account?.password.isKnown(password)) return account.viewer;
    if (this.#oneAtATime.pendingCount >= MAX_WAITING) throw tooManyAtOnce();
    return this.#oneAtATime(async () => {
      if (this.#tries.waitMs(networkOf(ctx.ip)) > 0) return this.#refuse(ctx);
      const matches = await (account?.password ?? this.#decoyPassword).matches(password);
      if (matches && account !== undefined) return account.viewer;
      this.#tries.take(networkOf(ctx.ip));
      return this.#refuse(ctx);
    });
  }

  #accountOf(name: string): Account | undefined {
    if (this.#shared === null) return this.#users.get(name);
    const viewer: Viewer = { name: name || 'admin', role: 'admin', ...(name !== '' && { unverified: true }) };
    return { viewer, password: this.#shared };
  }

  #refuse(ctx: Context): null {
    const client = networkOf(ctx.ip);
    const waitMs = Math.max(this.#tries.waitMs(client), this.#failures.waitMs(client));
    if (waitMs === 0) this.#failures.take(client);
    this.#record(ctx, waitMs === 0 ? 'wrong password' : 'too many wrong passwords');
    if (waitMs > 0) throw tooManyTries(waitMs);
    return null;
  }

  #record({ ip: address, method, path }: Context, event: AccessEvent): void {
    this.#onAccess({ event, address, viewer: null, method, path, why: null });
  }
}

function tooManyTries(waitMs: number): Problem {
  const seconds = Math.ceil(waitMs / 1_000);
  return new Problem({
    status: 429,
    title: 'Too many wrong passwords',
    text: `Wait ${seconds} seconds, then try again.`,
    headers: { 'Retry-After': String(seconds) },
  });
}

function tooManyAtOnce(): Problem {
  return new Problem({
    status: 503,
    title: 'Too many sign-ins at once',
    text: 'The dashboard is still checking other passwords. Wait a few seconds, then try again.',
    headers: { 'Retry-After': '1' },
  });
}

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
class Password {
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
