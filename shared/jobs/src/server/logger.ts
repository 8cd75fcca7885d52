import terminal from 'node:console';
import type { Check } from '../job/options.js';
import { shown } from '../job/shown.js';

/** A logger with pino's signature: fields first, then the message. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

const levels = ['debug', 'info', 'warn', 'error'] as const satisfies readonly (keyof Logger)[];

/** Accepts an object with the methods of a logger. */
export const isLogger: Check = (what, value) => {
  const logger = (value ?? {}) as Partial<Record<keyof Logger, unknown>>;
  if (levels.every((level) => typeof logger[level] === 'function')) return;
  throw new TypeError(
    `${what} must be an object with the functions ${levels.join(', ')}, such as a pino logger, not ${shown(value)}`,
  );
};

/** Wraps a logger so that it never throws, because a broken logger must not stop the work that it reports. */
export function guarded(logger: Logger): Logger {
  const attempt =
    (level: keyof Logger) =>
    (fields: object, message: string): void => {
      try {
        logger[level](fields, message);
      } catch {
        // Ignored, because there is nowhere else to report the error.
      }
    };
  return { debug: attempt('debug'), info: attempt('info'), warn: attempt('warn'), error: attempt('error') };
}

const ignore = (): void => undefined;

/** A logger that discards everything. */
export const silentLogger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };

/**
 * The default logger of servers. Writes warnings and errors to standard error, as `message { fields }`. Ignores
 * everything else.
 */
export const consoleLogger: Logger = {
  debug: ignore,
  info: ignore,
  warn: (fields, message) => terminal.warn(message, printable(fields)),
  error: (fields, message) => terminal.error(message, printable(fields)),
};

/**
 * Converts an error that was logged as plain data to an `Error`, because the console prints the stack of an `Error`
 * line by line.
 */
function printable(fields: object): object {
  const { err } = fields as { err?: { name: string; message: string; stack: string | null } };
  if (err === undefined || err instanceof Error) return fields;
  const { name, message, stack } = err;
  return { ...fields, err: Object.assign(new Error(message), { name, ...(stack !== null && { stack }) }) };
}
