import { shorten } from '@longshore/edge';
import { ExactNumber, type LogLevel, type LogLine, redact } from '@longshore/jobs/storage';
import { jsonTokens } from '../format/json-tokens.js';

/** A log line of a job, prepared for display. */
export interface LogRow {
  readonly id: string;
  readonly attempt: number;
  readonly at: Date;
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: readonly { readonly key: string; readonly value: string }[];
}

const MAX_VALUE = 500;

/** Converts a log line for display. Values under keys that match `pattern` are redacted, at any depth. */
export function logRow({ fields, ...line }: LogLine, pattern: RegExp): LogRow {
  const shown = redact(fields ?? {}, pattern);
  const members =
    shown !== null && typeof shown === 'object' && !(shown instanceof ExactNumber)
      ? Object.entries(shown)
      : [];
  return {
    ...line,
    fields: members.map(([key, value]) => ({
      key,
      value: shorten(
        jsonTokens(value, MAX_VALUE)
          .tokens.map(({ text }) => text.replaceAll(/\n\s*/g, ' '))
          .join(''),
        MAX_VALUE,
        '…',
      ),
    })),
  };
}
