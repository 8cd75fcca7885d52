/** Where a server says what it does; pino's shape. Fields first, then the sentence. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** The same logger, except that it never throws: one that is broken must not stop what it describes. */
export function guarded(logger: Logger): Logger {
  const attempt =
    (level: keyof Logger) =>
    (fields: object, message: string): void => {
      try {
        logger[level](fields, message);
      } catch {
        // There is nowhere left to say so.
      }
    };
  return { debug: attempt('debug'), info: attempt('info'), warn: attempt('warn'), error: attempt('error') };
}

const ignore = (): void => undefined;

/** Says nothing. */
export const silentLogger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };
