import { errorName } from './error-name.js';
import { bounds } from './bounds.js';
import type { JsonText, JsonValue } from './json.js';
import { storable } from './storable.js';

export const logLevels = ['debug', 'info', 'warn', 'error'] as const;

export type LogLevel = (typeof logLevels)[number];

/** The latest progress that an attempt has reported. */
export interface Progress {
  /** 0 to 100, rounded to two decimal places. */
  readonly percent: number;
  readonly message: string | null;
}

export interface NewLogLine {
  /**
   * Number of the line within its attempt, starting at 1. If a write is repeated, the storage uses this number to avoid
   * storing the line twice.
   */
  readonly line: number;
  /** When the line was logged, by the storage's clock as estimated by the process that runs the job. */
  readonly at: Date;
  readonly level: LogLevel;
  readonly message: string;
  /** A JSON object; `null` if the line has no fields. */
  readonly fields: JsonText | null;
}

export interface LogLine {
  /** Opaque. Pass it as `after` to list the lines that follow this one. */
  readonly id: string;
  readonly attempt: number;
  readonly at: Date;
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: { readonly [key: string]: JsonValue } | null;
}

/** The log of a running attempt. `fields` contains structured data, such as ids or counts. */
export type JobLog = Readonly<Record<LogLevel, (message: string, fields?: object) => void>>;

/** Maximum length, in characters, of the error that is stored if fields cannot be serialized. */
const maxOmission = 500;

/**
 * Clamps the percentage to 0–100 and rounds it to two decimal places. Anything that is not a number becomes 0.
 * Truncates a long message. Never throws, because an invalid report must not fail the job.
 */
export function toProgress(percent: number, message: string | null): Progress {
  const bounded = typeof percent === 'number' ? Math.min(Math.max(percent, 0), 100) : Number.NaN;
  return {
    percent: Number.isNaN(bounded) ? 0 : Math.round(bounded * 100) / 100,
    message: message === null ? null : storable(message, bounds.progressMessage.max),
  };
}

/**
 * Limits a log line to `maxBytes` of UTF-8. Truncates a longer message. If the message and the fields together exceed
 * the limit, replaces the fields with a short note, which does not count towards the limit. Never throws.
 */
export function toLogText(
  message: string,
  fields: object | undefined,
  maxBytes: number,
): Pick<NewLogLine, 'message' | 'fields'> {
  const text = fields === undefined ? null : fieldsText(fields);
  const cut = cutToBytes(storable(message, maxBytes), maxBytes);
  if (text === null) return { message: cut, fields: null };
  const fits = Buffer.byteLength(cut) + Buffer.byteLength(text) <= maxBytes;
  return { message: cut, fields: fits ? text : '{"omitted":"too long"}' };
}

function fieldsText(fields: object): JsonText {
  try {
    const text = JSON.stringify(fields instanceof Error ? { err: fields } : { ...fields }, withErrors);
    // Replaces escaped NUL characters and unpaired surrogates, which Postgres cannot store.
    return text.replaceAll(/(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][\da-f]{2})/g, String.raw`$1\ufffd`);
  } catch (error) {
    return JSON.stringify({ omitted: storable(error, maxOmission) });
  }
}

/**
 * A replacer for `JSON.stringify`. Converts BigInts to strings, and errors to plain objects. Without this, BigInts would
 * throw, and errors would become `{}`.
 */
function withErrors(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (!(value instanceof Error)) return value;
  return { name: errorName(value), message: value.message, stack: value.stack };
}

function cutToBytes(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes) return text;
  return new TextDecoder().decode(Buffer.from(text).subarray(0, maxBytes)).replace(/\ufffd$/, '');
}
