import { randomBytes } from 'node:crypto';
import Keygrip from 'keygrip';

/**
 * Signs short values that a browser will send back: sessions, form tokens and flash messages. A token is valid only for
 * the purpose it was signed for, until it expires.
 */
export class SignedTokens {
  readonly #keys: Keygrip;
  readonly #now: () => number;
  /** Identifies the key without revealing it. */
  readonly keyId: string;

  /** @param key random by default; tokens are then valid only in this process */
  constructor(key: Buffer = randomBytes(32), now: () => number = Date.now) {
    this.#keys = new Keygrip([key.toString('base64')], 'sha256');
    this.#now = now;
    this.keyId = this.#keys.sign('key id').slice(0, 8);
  }

  /** Returns a token for `value`. The value must not contain a dot. */
  sign(purpose: string, value: string, lifetimeMs: number): string {
    const content = `${value}.${this.#now() + lifetimeMs}`;
    return `${content}.${this.#keys.sign(`${purpose}:${content}`)}`;
  }

  /** Returns the signed value; `null` if the token is forged, has expired or was signed for another purpose. */
  verify(purpose: string, text: string): string | null {
    const parts = /^([^.]*)\.(\d{1,16})\.([\w-]{43})$/.exec(text);
    if (parts === null) return null;
    const [, value = '', expiresAtMs = '', signature = ''] = parts;
    if (!this.#keys.verify(`${purpose}:${value}.${expiresAtMs}`, signature)) return null;
    return Number(expiresAtMs) > this.#now() ? value : null;
  }
}

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
