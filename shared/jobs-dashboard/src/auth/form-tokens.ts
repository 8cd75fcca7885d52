import { randomBytes } from 'node:crypto';
import type { SignedTokens } from './signed-tokens.js';

const LIFETIME_MS = 12 * 3_600_000;
const RENEWAL_MS = 3_600_000;
/**
 * Lifetime of a flash message, in milliseconds: long enough for the next page, but short enough that a later reload
 * does not repeat the message.
 */
const FLASH_MS = 20_000;

/**
 * Issues form tokens and signs flash messages. A form token proves that this dashboard recently served the form to this
 * viewer.
 */
export class FormTokens {
  readonly #tokens: SignedTokens;
  readonly #now: () => number;

  constructor(tokens: SignedTokens, now: () => number) {
    this.#tokens = tokens;
    this.#now = now;
  }

  /** Changes hourly and on key rotation, so that open pages renew their forms. */
  get version(): string {
    return `${this.#tokens.keyId}.${Math.floor(this.#now() / RENEWAL_MS)}`;
  }

  /** Returns a token that is valid for 12 hours and only for this subject. */
  issue(subject: string): string {
    return this.#tokens.sign(`form ${subject}`, randomBytes(8).toString('hex'), LIFETIME_MS);
  }

  accepts(subject: string, token: unknown): boolean {
    return typeof token === 'string' && this.#tokens.verify(`form ${subject}`, token) !== null;
  }

  /**
   * Returns a signed flash message for the subject’s next page. Because of the signature, no crafted link can claim
   * that an action has happened.
   */
  signFlash(subject: string, message: string): string {
    return this.#tokens.sign(`flash ${subject}`, message, FLASH_MS);
  }

  readFlash(subject: string, token: string): string | null {
    return this.#tokens.verify(`flash ${subject}`, token);
  }
}
