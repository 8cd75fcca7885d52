import { randomBytes } from 'node:crypto';
import type { SignedTokens } from './signed-tokens.js';

const LIFETIME_MS = 12 * 3_600_000;
const RENEWAL_MS = 3_600_000;
/** Long enough for the next page, and short enough for a reload of it not to tell of the past. */
const FLASH_MS = 20_000;

/** What a form carries to show that it was made here, for whom, and not long ago. */
export class FormTokens {
  readonly #tokens: SignedTokens;
  readonly #now: () => number;

  constructor(tokens: SignedTokens, now: () => number) {
    this.#tokens = tokens;
    this.#now = now;
  }

  /** Another one each hour, and whenever the key is another: forms on open pages are to be made anew then. */
  get version(): string {
    return `${this.#tokens.keyId}.${Math.floor(this.#now() / RENEWAL_MS)}`;
  }

  /** `subject`: whom the form is for; the token is of no use to anybody else, for 12 hours. */
  issue(subject: string): string {
    return this.#tokens.sign(`form ${subject}`, randomBytes(8).toString('hex'), LIFETIME_MS);
  }

  accepts(subject: string, token: unknown): boolean {
    return typeof token === 'string' && this.#tokens.verify(`form ${subject}`, token) !== null;
  }

  /** What a form has done, for the next page of the same subject: sealed, so that no link tells of what nobody did. */
  signFlash(subject: string, message: string): string {
    return this.#tokens.sign(`flash ${subject}`, message, FLASH_MS);
  }

  readFlash(subject: string, token: string): string | null {
    return this.#tokens.verify(`flash ${subject}`, token);
  }
}
