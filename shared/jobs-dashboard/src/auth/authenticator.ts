import { randomBytes } from 'node:crypto';
import type { Context } from 'koa';
import { SignedTokens } from './signed-tokens.js';

/** All roles, lowest first. Each role includes the rights of the lower ones. */
export const roles = ['viewer', 'operator', 'admin'] as const;

/**
 * `viewer` is read-only. `operator` can carry out all actions except deleting jobs and queues. `admin` can also delete
 * these.
 */
export type Role = (typeof roles)[number];

/** Returns whether the viewer has this role or a higher one. */
export function hasRole({ role }: Viewer, least: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(least);
}

/** A person or program that uses the dashboard. */
export interface Viewer {
  /** The viewer's name, shown on every page and in audit entries. */
  readonly name: string;
  readonly role: Role;
  /** Whether the name is unproven, because all users share one password and can enter any name. Defaults to `false`. */
  readonly unverified?: boolean;
}

/**
 * Returns who sent a request; `null` to refuse the request with 403. Provided by the host application. To send people
 * to your own sign-in page, redirect them in a middleware in front of the dashboard.
 */
export type Authorize = (ctx: Context) => Viewer | null | Promise<Viewer | null>;

/** Maps the groups or roles of another system to roles of the dashboard. */
export interface RoleMapping {
  /**
   * Roles by group, such as `{ sre: 'admin', developers: 'operator' }`. By default, the groups `viewer`, `operator` and
   * `admin` map to the roles of the same names.
   */
  readonly roles?: Readonly<Record<string, Role>> | undefined;
  /** The minimum role of every user. By default, users without a mapped group have no access. */
  readonly defaultRole?: Role | undefined;
}

/** Returns the highest of the default role and the roles of the groups; `null` if there is none. */
export function roleOf(
  groups: readonly unknown[],
  { roles: mapping, defaultRole }: RoleMapping,
): Role | null {
  const roleOfGroup = new Map<unknown, Role>(
    mapping === undefined ? roles.map((role) => [role, role]) : Object.entries(mapping),
  );
  const granted = new Set([defaultRole, ...groups.map((group) => roleOfGroup.get(group))]);
  return roles.findLast((role) => granted.has(role)) ?? null;
}

/** Lifetime of a form token, in milliseconds. */
const FORM_MS = 12 * 3_600_000;
const RENEWAL_MS = 3_600_000;
/**
 * Lifetime of a flash message, in milliseconds: long enough for the next page, but short enough that a later reload
 * does not repeat the message.
 */
const FLASH_MS = 20_000;

/** Authenticates requests, and protects forms and flash messages with signed tokens. */
export abstract class Authenticator {
  readonly signedTokens: SignedTokens;
  /** The origin at which browsers reach the dashboard; `undefined` if it is the `Host` of their requests. */
  readonly origin: string | undefined;
  /**
   * Why requests are refused: `closed` if access has not been configured, `forbidden` if the host application denies
   * it, `sign-in` if the client has to sign in first.
   */
  abstract readonly denial: 'closed' | 'forbidden' | 'sign-in';
  readonly #now: () => number;

  /** @param key signs sessions, form tokens and flash messages; random if `undefined` */
  constructor(key: Buffer | undefined, origin: string | undefined, now: () => number) {
    this.signedTokens = new SignedTokens(key, now);
    this.origin = origin;
    this.#now = now;
  }

  /** Returns who sent the request; `null` if the request must be refused. */
  abstract identify(ctx: Context): ReturnType<Authorize>;

  /** Returns whether the viewer has signed in, and can sign out. */
  hasSession(_ctx: Context): boolean {
    return false;
  }

  /** Returns whom a token is valid for. The subject is empty for a client that is about to sign in. */
  protected subjectOf(_ctx: Context, viewer: Viewer | null): string {
    return viewer?.name ?? '';
  }

  /**
   * Part of the version of each page. Changes hourly and on key rotation, so that open pages renew their form tokens
   * long before they expire.
   */
  get formVersion(): string {
    return `${this.signedTokens.keyId}.${Math.floor(this.#now() / RENEWAL_MS)}`;
  }

  /**
   * Returns a token for the page's forms, which proves that this dashboard recently served the form. It is valid for
   * this viewer and session only.
   */
  formToken(ctx: Context, viewer: Viewer | null): string {
    const purpose = `form ${this.subjectOf(ctx, viewer)}`;
    return this.signedTokens.sign(purpose, randomBytes(8).toString('hex'), FORM_MS);
  }

  acceptsFormToken(ctx: Context, viewer: Viewer | null, token: unknown): boolean {
    if (typeof token !== 'string') return false;
    return this.signedTokens.verify(`form ${this.subjectOf(ctx, viewer)}`, token) !== null;
  }

  /**
   * Signs a flash message for the next page that this viewer loads in this session. Because of the signature, no
   * crafted link can claim that an action has happened. The message must not contain a dot.
   */
  signFlash(ctx: Context, viewer: Viewer, message: string): string {
    return this.signedTokens.sign(`flash ${this.subjectOf(ctx, viewer)}`, message, FLASH_MS);
  }

  /** Returns the flash message; `null` if it is forged, has expired, or belongs to another viewer or session. */
  readFlash(ctx: Context, viewer: Viewer, token: string): string | null {
    return this.signedTokens.verify(`flash ${this.subjectOf(ctx, viewer)}`, token);
  }
}

/**
 * What happened:
 *
 * - `signed in`, `signed out`: a session began or ended
 * - `sign-in failed`: the OpenID Connect provider rejected the sign-in, could not be reached or sent an invalid
 *   response, or the user has no role here
 * - `wrong password`: in the form or with HTTP Basic authentication
 * - `too many wrong passwords`: answered with 429, because this address has sent too many wrong passwords
 * - `refused`: answered with 403, because the client has no access, the viewer's role is too low, or a form has expired
 */
export type AccessEvent =
  'signed in' | 'signed out' | 'sign-in failed' | 'wrong password' | 'too many wrong passwords' | 'refused';

/** A sign-in, sign-out or refusal, for the host application’s log. */
export interface AccessRecord {
  readonly event: AccessEvent;
  /** The client’s address, as the application sees it. */
  readonly address: string;
  /** The authenticated viewer; `null` if the client is not authenticated. */
  readonly viewer: Viewer | null;
  readonly method: string;
  readonly path: string;
  /** The reason for a refusal or a failed sign-in; `null` for other events. */
  readonly why: string | null;
}

export type OnAccess = (record: AccessRecord) => void;
