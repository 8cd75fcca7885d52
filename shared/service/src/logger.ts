import { type Logger, pino } from 'pino';

/** A log of JSON lines on standard output: time, level as a word, the service's name, fields, message. */
export function createLogger(service: string, level: string): Logger {
  return pino({
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
  });
}

export type { Logger } from 'pino';
