import { type Logger, type LoggerOptions, pino } from 'pino';

/**
 * Creates a logger that writes JSON lines with time, level, service, fields and message.
 *
 * @param write called with each line; by default, lines go to standard output
 */
export function createLogger(service: string, level: string, write?: (line: string) => void): Logger {
  const options: LoggerOptions = {
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
  };
  return write === undefined ? pino(options) : pino(options, { write });
}

export type { Logger } from 'pino';
