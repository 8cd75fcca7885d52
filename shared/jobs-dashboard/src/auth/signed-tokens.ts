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
