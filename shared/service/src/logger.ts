import { type Logger, pino } from 'pino';

/** Creates a logger that writes JSON lines with time, level, service, fields and message to standard output. */
export function createLogger(service: string, level: string): Logger {
  return pino({
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
  });
}

export type { Logger } from 'pino';
