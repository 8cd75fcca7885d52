import { createHash } from 'node:crypto';
import { shorten } from '@longshore/edge';
import type { AlertContent, AlertMessage } from '@longshore/jobs/storage';
import { Webhook as Signer } from 'standardwebhooks';
import { counted } from '../format/count.js';

/** Default time limit for the response of a webhook, in milliseconds. */
export const TIMEOUT_MS = 10_000;
/** Maximum length of the response body that error messages quote, in characters. */
const MAX_ANSWER = 200;

export interface WebhookOptions {
  readonly url: string;
  /** By which rules for warnings, logs and the overview name it. By default, the host and a short hash of the URL. */
  readonly name?: string | undefined;
  /**
   * The key that signs messages: 24 to 64 bytes as Base64, optionally prefixed with `whsec_`. Without a secret, and in
   * the format `slack`, messages are not signed.
   */
  readonly secret: string | undefined;
  readonly format: WebhookFormat;
  /** Whether the URL may begin with `http:` instead of `https:`. */
  readonly allowsHttp: boolean;
}

export class Webhook {
  /**
   * The name of the webhook or, without one, what identifies it without its path, because paths can be secret. Example:
   * `hooks.example.com 1f2e3d4c`.
   */
  readonly target: string;
  readonly #options: WebhookOptions;
  readonly #timeoutMs: number;
  readonly #signer: Signer | null;

  /**
   * @param timeoutMs time limit for the response, in milliseconds
   * @throws {TypeError} if the URL or the secret is not valid; the error message does not reveal them
   */
  constructor(options: WebhookOptions, timeoutMs: number) {
    const { url, name, secret, format } = options;
    const { host } = checkedUrl(options);
    this.#options = options;
    this.#timeoutMs = timeoutMs;
    this.#signer = secret === undefined || format === 'slack' ? null : signerOf(secret);
    this.target = name ?? `${host} ${createHash('sha256').update(url).digest('hex').slice(0, 8)}`;
  }

  /**
   * Sends a message. The receiver must respond with a 2xx status within the time limit.
   *
   * @throws {Error} if the receiver cannot be reached or responds with another status; the error message does not
   *   contain the URL
   */
  async send(message: AlertMessage, origin: Origin, signal: AbortSignal): Promise<void> {
    const { url, format } = this.#options;
    const body = JSON.stringify(bodyOf(message, format, origin));
    const id = `msg_${message.id}`;
    const sentAt = new Date();
    const response = await fetch(url, {
      method: 'POST',
      // Redirects are not followed, because they would send the message and its signature to another receiver.
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(this.#timeoutMs)]),
      headers: {
        'content-type': 'application/json',
        'user-agent': 'Longshore',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1_000)),
        ...(this.#signer && { 'webhook-signature': this.#signer.sign(id, sentAt, body) }),
      },
      body,
    }).catch((error: unknown) => {
      throw new Error(explained(error, this.#timeoutMs));
    });
    const { ok, status } = response;
    const answer = (await beginningOf(response)).trim();
    if (!ok) throw new Error(`It responded with ${status}${answer === '' ? '' : `: ${answer}`}`);
  }
}

/** Returns up to {@link MAX_ANSWER} characters of a response body, without reading a long body to its end. */
async function beginningOf({ body }: Response): Promise<string> {
  if (body === null) return '';
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const chunk of body) {
      text += decoder.decode(chunk as Uint8Array, { stream: true });
      if (text.length >= MAX_ANSWER) break;
    }
  } catch {
    // Ignored, because only the status decides whether the delivery succeeded.
  }
  return shorten(text, MAX_ANSWER);
}

/**
 * Returns why a request failed. The message of a `fetch` error is usually just “fetch failed”, and the reason is in the
 * error's cause.
 */
function explained(error: unknown, timeoutMs: number): string {
  if (error instanceof Error && error.name === 'TimeoutError')
    return `It did not respond within ${timeoutMs / 1_000} s`;
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  const { code, message } = cause as { code?: unknown; message?: unknown };
  return `It cannot be reached: ${String(code ?? message)}`;
}

function checkedUrl({ url, allowsHttp }: WebhookOptions): URL {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed === null || !['https:', 'http:'].includes(parsed.protocol))
    throw new TypeError('An alert URL is not an http or https URL');
  if (parsed.protocol === 'http:' && !allowsHttp)
    throw new TypeError(`The alert URL of ${parsed.host} must use https in production`);
  if (parsed.username !== '' || parsed.password !== '')
    throw new TypeError(`The alert URL of ${parsed.host} must not contain a user name or a password`);
  return parsed;
}

function signerOf(secret: string): Signer {
  const bytes = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  if (bytes.length < 24 || bytes.length > 64)
    throw new TypeError(
      'The alert secret must be 24 to 64 random bytes as Base64: create one with "openssl rand -base64 32"',
    );
  return new Signer(bytes.toString('base64'));
}

/**
 * The format of messages:
 *
 * - `standard`: as defined by the Standard Webhooks specification, with an additional `text` member that chat services
 *   can show
 * - `slack`: an object with only a `text` member, as Slack expects
 */
export type WebhookFormat = 'standard' | 'slack';

/** Where messages come from. */
export interface Origin {
  /** The name of the installation; empty if it has none. */
  readonly instance: string;
  /** The dashboard's public URL, used as the base of links in messages; `null` if it is not known. */
  readonly baseUrl: string | null;
}

/** Returns the body of a message, to be serialized as JSON. */
function bodyOf({ content, createdAt }: AlertMessage, format: WebhookFormat, origin: Origin): object {
  const text = textOf(content, origin);
  if (format === 'slack') return { text: escaped(text) };
  return { type: content.type, timestamp: createdAt.toISOString(), data: dataOf(content, origin), text };
}

function dataOf(content: AlertContent, origin: Origin): object {
  const { instance } = origin;
  if (content.type === 'warnings.began') {
    const { count, since } = content;
    return { instance, count, since, url: urlOf('', origin) };
  }
  const { incident, since, endedAt, ending } = content;
  const { id, kind, key, text, advice, link } = incident;
  return { instance, id, kind, key, text, advice, since, endedAt, ending, url: urlOf(link, origin) };
}

/**
 * Returns text such as `staging: Queue “mail” was paused 5 min ago. 3 jobs are ready there. Resume it to let them run.
 * https://…`.
 */
function textOf(content: AlertContent, origin: Origin): string {
  const before = origin.instance === '' ? '' : `${origin.instance}: `;
  if (content.type === 'warnings.began')
    return joined(`${before}${counted(content.count, 'other warning')} began.`, urlOf('', origin));
  const { text, advice, link } = content.incident;
  const url = urlOf(link, origin);
  return content.type === 'warning.ended'
    ? joined(`${before}Ended: ${text}`, url)
    : joined(`${before}${text} ${advice}`, url);
}

function joined(text: string, url: string | null): string {
  return url === null ? text : `${text} ${url}`;
}

function urlOf(link: string, { baseUrl }: Origin): string | null {
  return baseUrl === null ? null : `${baseUrl.replace(/\/+$/, '')}/${link}`;
}

/** Escapes the characters that Slack's markup reserves, as its documentation requires. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
