import { hostname } from 'node:os';
import { onStopSignal, runSteps } from '@longshore/jobs/storage';
import { type Logger, type LoggerOptions, pino } from 'pino';
import type { TObject } from 'typebox';
import { ConfigError } from './config.js';
import { type Environment, variableNames } from './given-values.js';
import { inspections } from './inspection.js';
import { withoutPasswords, withoutSecrets } from './log-redaction.js';
import { misspeltVariables } from './misspelt-variables.js';
import { currentRequest } from './observed-requests.js';
import { serviceVersion } from './process-metrics.js';

/** A service that runs until it is stopped. */
export interface RunningService {
  /** Finishes the work in progress or returns it to the queue. Releases all resources. */
  stop(): Promise<void>;
  /**
   * Aborts when the service has stopped, even without a call to `stop`, for example because an operator stopped it. The
   * process then exits.
   */
  readonly ended?: AbortSignal;
}

/**
 * Starts a service or runs a command. Resolves to `null` if nothing is left to do. The signal aborts on SIGTERM or
 * SIGINT, even while the service is starting.
 */
type Start<Config> = (config: Config, logger: Logger, signal: AbortSignal) => Promise<RunningService | null>;

interface ServiceDescription<Config> {
  /** The name of the service, included in every log line. */
  readonly name: string;
  readonly environment: Environment;
  /** The service's variables. Similar but unknown names in `environment` are reported as misspelt. */
  readonly variables: TObject;
  /** @throws {ConfigError} if the environment is invalid */
  readonly readConfig: (environment: Environment) => Config;
  /**
   * Returns what the service would find wrong when it starts, besides the problems that `readConfig` reports. Commands may
   * need less.
   */
  readonly findProblems?: (environment: Environment) => Promise<readonly string[]>;
  readonly start: Start<Config>;
  /** The arguments of the process; empty by default. The first one names a command to run instead of the service. */
  readonly args?: readonly string[];
  /** Commands by name; empty by default. */
  readonly commands?: Readonly<Record<string, Start<Config>>>;
  /** Writes a log line. By default, log lines go to standard output. */
  readonly writeLog?: (line: string) => void;
}

/**
 * Runs a service until SIGTERM or SIGINT, or until an operator stops it. Then releases its resources. A second signal
 * ends the process immediately.
 *
 * @returns the exit code: 0 if the service was stopped or had nothing left to do, 1 if the command is unknown, the
 *   configuration is invalid, or starting or stopping failed
 */
export async function runService<Config extends { readonly LOG_LEVEL: string }>(
  service: ServiceDescription<Config>,
): Promise<number> {
  const [option = ''] = service.args ?? [];
  const inspect = Object.hasOwn(inspections, option) ? inspections[option] : undefined;
  if (inspect !== undefined) {
    const { text, code } = await inspect(service);
    process.stdout.write(`${text}\n`);
    return code;
  }
  let logger = createLogger(service.name, 'info', service.writeLog);
  const report = (error: Error): void => logger.fatal({ err: error }, 'uncaught error');
  process.on('uncaughtExceptionMonitor', report);
  const { signal, requested } = onStopSignal();
  try {
    const start = startOf(service);
    const config = service.readConfig(service.environment);
    logger = createLogger(service.name, config.LOG_LEVEL, service.writeLog);
    for (const warning of misspeltVariables(service.environment, variableNames(service.variables)))
      logger.warn({}, warning);
    const problems = start === service.start ? await service.findProblems?.(service.environment) : [];
    if (problems !== undefined && problems.length > 0) throw new ConfigError(problems);
    const running = await start(config, logger, signal);
    if (running === null) return 0;
    process.off('uncaughtExceptionMonitor', report);
    surviveStrayErrors(logger);
    logger.info({ signal: await Promise.race([requested, endOf(running)]) }, 'stopping');
    await running.stop();
    logger.info({}, 'stopped');
    return 0;
  } catch (error) {
    if (error === signal.reason) return 0; // a signal stopped the service while it was starting
    if (error instanceof ConfigError)
      logger.fatal(error.cause === undefined ? {} : { err: error.cause }, error.message);
    else
      logger.fatal(
        { err: error },
        signal.aborted ? 'the service could not stop cleanly' : 'the service could not start',
      );
    return 1;
  }
}

/** @throws {ConfigError} if the arguments name an unknown command */
function startOf<Config>({ start, args = [], commands = {} }: ServiceDescription<Config>): Start<Config> {
  const [command] = args;
  if (command === undefined) return start;
  const run = Object.hasOwn(commands, command) ? commands[command] : undefined;
  if (run !== undefined) return run;
  const names = Object.keys(commands).join(' or ');
  throw new ConfigError(
    `Unknown command "${command}": give ${names === '' ? 'no arguments' : `${names}, or no arguments to start the service`}`,
  );
}

/** Resolves when `ended` aborts. Never resolves if the service has no `ended`. */
function endOf({ ended }: RunningService): Promise<null> {
  return new Promise((resolve) => {
    if (ended?.aborted === true) resolve(null);
    else ended?.addEventListener('abort', () => resolve(null), { once: true });
  });
}

/** Maximum number of stray errors per minute. Beyond it, the process ends. */
const maxPerMinute = 1_000;

const minuteMs = 60_000;

/**
 * Keeps the process running when an error is thrown where nothing can catch it. Such errors come from timers and
 * listeners that a handler left behind, or from promises that no code awaits. Otherwise one handler could end all jobs
 * of the process.
 */
function surviveStrayErrors(logger: Logger): void {
  let count = 0;
  let sinceMs = performance.now();
  const survive = (error: unknown): void => {
    const nowMs = performance.now();
    if (nowMs - sinceMs > minuteMs) {
      count = 0;
      sinceMs = nowMs;
    }
    if (++count > maxPerMinute) {
      logger.fatal({ err: error }, 'too many stray errors');
      process.off('uncaughtException', survive).off('unhandledRejection', survive);
      throw new Error('Too many stray errors', { cause: error }); // ends the process
    }
    logger.error(
      { err: error },
      'stray error: an uncaught error from a timer, listener or promise that a handler left behind',
    );
  };
  process.on('uncaughtException', survive).on('unhandledRejection', survive);
}

/** Registers how to release what a service has just acquired. */
export type OnRelease = (release: () => Promise<unknown>) => void;

/**
 * Starts a service, and makes sure that what it has acquired is released exactly once, last acquired first: when it is
 * stopped, if it cannot start, or if the signal aborts before it has started. Further calls of `stop` return the same
 * promise.
 *
 * @param start acquires what the service needs, and resolves once the service is ready; to a signal that aborts when the
 *   service ends by itself, if it can
 * @throws the error of `start`, or the reason of the signal; nothing is left to release then
 */
export async function startService(
  logger: Logger,
  signal: AbortSignal,
  start: (onRelease: OnRelease) => Promise<AbortSignal | undefined>,
): Promise<RunningService> {
  const releases: (() => Promise<unknown>)[] = [];
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopped ??= runSteps(releases.toReversed()));
  try {
    signal.throwIfAborted();
    const ended = await start((release) => releases.push(release));
    signal.throwIfAborted();
    return { stop, ...(ended !== undefined && { ended }) };
  } catch (error) {
    await stop().catch((failure: unknown) => {
      logger.warn({ err: failure }, 'a service that could not start was not released completely');
    });
    throw error;
  }
}

/**
 * Creates a logger that writes JSON lines with time, level, service, version, instance (host and process id), fields and
 * message, and with the ids of the request that is being handled and of its trace. Values that look like secrets are
 * redacted.
 *
 * @param write called with each line; by default, lines go to standard output
 */
export function createLogger(service: string, level: string, write?: (line: string) => void): Logger {
  const options: LoggerOptions = {
    level,
    base: { service, version: serviceVersion, instance: `${hostname()}:${process.pid}` },
    timestamp: pino.stdTimeFunctions.isoTime,
    mixin: () => ({ ...currentRequest() }),
    formatters: { level: (label) => ({ level: label }), log: withoutSecrets },
    serializers: { err: (error: Error) => withoutSecrets({ ...pino.stdSerializers.err(error) }) },
    hooks: { streamWrite: withoutPasswords },
  };
  return write === undefined ? pino(options) : pino(options, { write });
}
