import type { Context } from 'koa';
import type { AccessEvent, OnAccess } from './access-record.js';
import { Password } from './password.js';
import { Throttle } from './throttle.js';
import type { Role, Viewer } from './viewer.js';

/**
 * After 10 wrong passwords in a minute from one address, further wrong ones are answered with 429; after 100, so is the right
 * one.
 */
const MISSES_A_MINUTE = 10;
const TRIES_A_MINUTE = 100;

/** A user with a password of their own. */
export interface User {
  /** Shown on every page and in audit entries. */
  readonly name: string;
  readonly role: Role;
  /** At least 8 characters, or a hash from {@link hashPassword}. */
  readonly password: string;
}

export type PasswordCheck =
  | { readonly kind: 'in'; readonly viewer: Viewer }
  | { readonly kind: 'wrong' }
  | { readonly kind: 'wait'; readonly waitMs: number };

/** The passwords of the users, or one that all of them share. Limits how often a client may guess. */
export class Passwords {
  readonly #shared: Password | null;
  readonly #users: ReadonlyMap<string, { readonly viewer: Viewer; readonly password: Password }>;
  /** Checked for unknown names, which would otherwise be rejected faster than known ones. */
  readonly #nobody: Password;
  readonly #misses: Throttle;
  readonly #tries: Throttle;
  readonly #onAccess: OnAccess;

  /** @throws {TypeError} if two users have the same name, or a name or a password is too short */
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
    this.#nobody = new Password(users[0]?.password ?? '');
    this.#misses = new Throttle(MISSES_A_MINUTE, 60_000, now);
    this.#tries = new Throttle(TRIES_A_MINUTE, 60_000, now);
    this.#onAccess = onAccess;
  }

  /** Whether people also enter a name, because each has a password of their own. */
  get named(): boolean {
    return this.#shared === null;
  }

  /**
   * Checks a password, unless too many wrong ones came from this address. Several people may share an address (behind an
   * untrusted gateway, for example), so the right password is accepted up to a higher limit.
   */
  async check(ctx: Context, name: string, password: string): Promise<PasswordCheck> {
    const closedMs = this.#tries.waitMs(ctx.ip);
    const viewer = closedMs === 0 ? await this.#viewerOf(name, password) : null;
    if (viewer !== null) return { kind: 'in', viewer };
    if (closedMs === 0) this.#tries.miss(ctx.ip);
    const waitMs = Math.max(closedMs, this.#misses.waitMs(ctx.ip));
    if (waitMs === 0) this.#misses.miss(ctx.ip);
    this.#record(ctx, waitMs === 0 ? 'wrong password' : 'too many wrong passwords');
    return waitMs === 0 ? { kind: 'wrong' } : { kind: 'wait', waitMs };
  }

  async #viewerOf(name: string, password: string): Promise<Viewer | null> {
    if (this.#shared !== null) {
      if (!(await this.#shared.matches(password))) return null;
      return { name: name || 'admin', role: 'admin', ...(name !== '' && { unverified: true }) };
    }
    const user = this.#users.get(name);
    if (user !== undefined) return (await user.password.matches(password)) ? user.viewer : null;
    await this.#nobody.matches(password);
    return null;
  }

  #record({ ip: address, method, path }: Context, event: AccessEvent): void {
    this.#onAccess({ event, address, viewer: null, method, path, why: null });
  }
}
