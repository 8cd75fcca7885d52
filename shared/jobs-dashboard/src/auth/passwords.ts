import { networkOf, Throttle } from '@longshore/edge';
import type { Context } from 'koa';
import pLimit from 'p-limit';
import { Problem } from '../http/problem.js';
import type { AccessEvent, OnAccess } from './access-record.js';
import { isHash, Password } from './password.js';
import type { Role, Viewer } from './viewer.js';

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
