import { randomBytes } from 'node:crypto';
import Keygrip from 'keygrip';

/**
 * Signs short values that go out to a browser and come back: sessions and form tokens. A sealed value is of use for
 * one purpose only, and until it expires.
 */
export class SignedTokens {
  readonly #keys: Keygrip;
  readonly #now: () => number;
  /** Tells keys from one another, and nothing else of them. */
  readonly keyId: string;

  /** Whoever has the key can forge. Without one, what this process sealed is worth nothing to another or after a restart. */
  constructor(key: Buffer = randomBytes(32), now: () => number = Date.now) {
    this.#keys = new Keygrip([key.toString('base64')], 'sha256');
    this.#now = now;
    this.keyId = this.#keys.sign('key id').slice(0, 8);
  }

  /** `value` must not contain a dot. */
  sign(purpose: string, value: string, lifetimeMs: number): string {
    const content = `${value}.${this.#now() + lifetimeMs}`;
    return `${content}.${this.#keys.sign(`${purpose}:${content}`)}`;
  }

  /** The value, or `null` if it is forged, expired or was sealed for another purpose. */
  verify(purpose: string, text: string): string | null {
    const parts = /^([^.]*)\.(\d{1,16})\.([\w-]{43})$/.exec(text);
    if (parts === null) return null;
    const [, value = '', expiresAtMs = '', signature = ''] = parts;
    if (!this.#keys.verify(`${purpose}:${value}.${expiresAtMs}`, signature)) return null;
    return Number(expiresAtMs) > this.#now() ? value : null;
  }
}
