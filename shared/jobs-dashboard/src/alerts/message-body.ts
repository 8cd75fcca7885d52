import type { AlertContent, AlertMessage } from '@longshore/jobs/storage';
import { counted } from '../format/count.js';

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
export function bodyOf({ content, createdAt }: AlertMessage, format: WebhookFormat, origin: Origin): object {
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
  const { warning, since, endedAt } = content;
  const { key, text, advice, link } = warning;
  return { instance, key, text, advice, since, endedAt, url: urlOf(link, origin) };
}

/**
 * Returns text such as `staging: Queue “mail” was paused 5 min ago. 3 jobs are ready there. Resume it to let them run.
 * https://…`.
 */
function textOf(content: AlertContent, origin: Origin): string {
  const before = origin.instance === '' ? '' : `${origin.instance}: `;
  if (content.type === 'warnings.began')
    return joined(`${before}${counted(content.count, 'other warning')} began.`, urlOf('', origin));
  const { text, advice, link } = content.warning;
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
