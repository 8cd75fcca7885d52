import { printable } from '@longshore/edge';

/** ANSI escape codes by style. */
const styles = {
  bold: 1,
  red: 31,
  green: 32,
  yellow: 33,
  blue: 34,
  magenta: 35,
  cyan: 36,
  white: 37,
  gray: 90,
} as const;

export type Style = keyof typeof styles;
export type Paint = (style: Style, text: string) => string;

/**
 * Returns a function that colours text. It leaves text unchanged if the stream is not a terminal, `NO_COLOR` is set, or
 * `TERM` is `dumb`.
 */
export function paintFor(stream: { readonly isTTY?: boolean }, env: NodeJS.ProcessEnv): Paint {
  const coloured = stream.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
  return coloured ? (style, text) => `\u001B[${styles[style]}m${text}\u001B[0m` : (_, text) => text;
}

/** Pino's level names, by number. Some loggers write the name instead of the number. */
const levelNames: Readonly<Record<string, string>> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
};

const levelStyles: Readonly<Record<string, Style>> = {
  info: 'green',
  warn: 'yellow',
  error: 'red',
  fatal: 'magenta',
};

/** Fields to hide, because every line repeats them or the format already includes them. */
const hiddenFields = new Set([
  'level',
  'time',
  'msg',
  'pid',
  'hostname',
  'name',
  'service',
  'version',
  'instance',
  'v',
]);

/**
 * Formats a JSON log line for people: `12:00:00.000 info message key=value`. The stack of an error follows on the next
 * lines. Returns any other line unchanged.
 */
export function formatLogLine(line: string, paint: Paint): string {
  const entry = parseEntry(line);
  if (entry === null) return line;
  const level = levelNames[String(entry['level'])] ?? String(entry['level']);
  const time =
    typeof entry['time'] === 'number' || typeof entry['time'] === 'string' ? new Date(entry['time']) : null;
  const fields = Object.entries(entry).filter(([key]) => !hiddenFields.has(key) && key !== 'err');
  const words = [
    paint('gray', time === null || Number.isNaN(time.getTime()) ? '' : time.toISOString().slice(11, 23)),
    paint(levelStyles[level] ?? 'gray', level),
    textOf(entry['msg']),
    ...fields.map(([key, value]) => paint('gray', `${key}=${textOf(value)}`)),
  ];
  const stack = stackOf(entry['err']);
  return words.filter((word) => word !== '').join(' ') + (stack === '' ? '' : `\n${stack}`);
}

function parseEntry(line: string): Record<string, unknown> | null {
  if (!line.startsWith('{')) return null;
  try {
    const entry = JSON.parse(line) as Record<string, unknown>;
    return 'level' in entry ? entry : null;
  } catch {
    return null;
  }
}

/** Returns a value as text, with control characters as escapes, because they can come from jobs. */
function textOf(value: unknown): string {
  return printable(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''), '\n');
}

function stackOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  return textOf('stack' in error ? error.stack : error);
}
