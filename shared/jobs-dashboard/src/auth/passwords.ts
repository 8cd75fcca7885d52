import type { Context } from 'koa';
import pLimit from 'p-limit';
import type { AccessEvent, OnAccess } from './access-record.js';
import { isHash, Password } from './password.js';
import { Throttle } from './throttle.js';
import type { Role, Viewer } from './viewer.js';

/**
 * Limits per minute and client address. After 10 wrong passwords, the result of another wrong password is `wait`
 * instead of `wrong`. After 100, even the right password results in `wait`.
 */
const MAX_FAILURES_PER_MINUTE = 10;
const MAX_TRIES_PER_MINUTE = 100;

/** Maximum number of passwords waiting to be checked. Further passwords result in `wait`. */
const MAX_WAITING = 10;
const QUEUE_WAIT_MS = 1_000;

/** A user who signs in with a name and a password. */
export interface User {
  /** The user's name, shown on every page and in audit entries. */
  readonly name: string;
  readonly role: Role;
  /** A password of at least 8 characters, or a hash from {@link hashPassword}. */
  readonly password: string;
}

export type PasswordCheck =
  | { readonly kind: 'in'; readonly viewer: Viewer }
  | { readonly kind: 'wrong' }
  | { readonly kind: 'wait'; readonly waitMs: number };

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
    this.#failures = new Throttle(MAX_FAILURES_PER_MINUTE, 60_000, now);
    this.#tries = new Throttle(MAX_TRIES_PER_MINUTE, 60_000, now);
    this.#onAccess = onAccess;
  }

  /** Whether each user has a password of their own, so that the sign-in form also asks for a name. */
  get named(): boolean {
    return this.#shared === null;
  }

  /**
   * Checks a password. Rejects clients that have reached {@link MAX_TRIES_PER_MINUTE}. Clients that have reached only
   * {@link MAX_FAILURES_PER_MINUTE} can still sign in with the right password, because several people can share an
   * address, for example behind an untrusted gateway.
   */
  async check(ctx: Context, name: string, password: string): Promise<PasswordCheck> {
    const account = this.#accountOf(name);
    if (this.#tries.waitMs(ctx.ip) > 0) return this.#refuse(ctx);
    if (account?.password.isKnown(password)) return { kind: 'in', viewer: account.viewer };
    if (this.#oneAtATime.pendingCount >= MAX_WAITING) return { kind: 'wait', waitMs: QUEUE_WAIT_MS };
    return this.#oneAtATime(async () => {
      if (this.#tries.waitMs(ctx.ip) > 0) return this.#refuse(ctx);
      const matches = await (account?.password ?? this.#decoyPassword).matches(password);
      if (matches && account !== undefined) return { kind: 'in', viewer: account.viewer };
      this.#tries.count(ctx.ip);
      return this.#refuse(ctx);
    });
  }

  #accountOf(name: string): Account | undefined {
    if (this.#shared === null) return this.#users.get(name);
    const viewer: Viewer = { name: name || 'admin', role: 'admin', ...(name !== '' && { unverified: true }) };
    return { viewer, password: this.#shared };
  }

  #refuse(ctx: Context): PasswordCheck {
    const waitMs = Math.max(this.#tries.waitMs(ctx.ip), this.#failures.waitMs(ctx.ip));
    if (waitMs === 0) this.#failures.count(ctx.ip);
    this.#record(ctx, waitMs === 0 ? 'wrong password' : 'too many wrong passwords');
    return waitMs === 0 ? { kind: 'wrong' } : { kind: 'wait', waitMs };
  }

  #record({ ip: address, method, path }: Context, event: AccessEvent): void {
    this.#onAccess({ event, address, viewer: null, method, path, why: null });
  }
}
