import { type Logger, pino } from 'pino';

/** Creates a log of JSON lines on standard output, with time, level, service, fields and message. */
export function createLogger(service: string, level: string): Logger {
  return pino({
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
  });
}

export type { Logger } from 'pino';
