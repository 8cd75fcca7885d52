import { runService, type ServiceProcess, type ServiceSpec, untilReady } from './service-process.js';

export interface Supervision {
  readonly specs: readonly ServiceSpec[];
  /** Resolves when the database ends; absent if there is no database. */
  readonly databaseEnded?: Promise<void>;
  /** Resolves when everything should stop. */
  readonly interrupted: Promise<void>;
  /** Called with each line that a service writes. */
  readonly onLine: (service: string, line: string) => void;
  /** Called once all services are ready. */
  readonly onReady: () => void;
  /** Called when a service has exited unexpectedly, before its restart. `how` is, for example, `exit code 1`. */
  readonly onEnded: (service: string, how: string) => void;
  /** Called once the services have been started, with a function that restarts all of them. */
  readonly onStart?: (restart: () => Promise<void>) => void;
  /** How long the services may take to become ready, in milliseconds; 600,000 by default. */
  readonly startDeadlineMs?: number;
  /** How long a service may take to stop before it is killed, in milliseconds; 2,000 by default. */
  readonly stopDeadlineMs?: number;
  /** How long to wait before a service is restarted, in milliseconds; 1,000 by default. */
  readonly restartDelayMs?: number;
}

/**
 * Runs the services until `interrupted` resolves, and then stops all of them. Once all services have been ready,
 * restarts any service that exits.
 *
 * @throws {Error} if the database ends, if a service ends before all are ready, or if a service is not ready in time;
 *   the message names the database or the service
 */
export async function supervise(supervision: Supervision): Promise<void> {
  const { specs, databaseEnded, interrupted, onLine, onReady, onEnded, onStart } = supervision;
  const { startDeadlineMs = 600_000, stopDeadlineMs = 2_000, restartDelayMs = 1_000 } = supervision;
  const over = new AbortController();
  const running = new Map<string, ServiceProcess>();
  let allReady = false;
  let fail: (error: Error) => void = () => undefined;
  const failure = new Promise<never>((_, reject) => (fail = reject));

  const start = (spec: ServiceSpec): void => {
    const service = runService(spec, (line) => onLine(spec.name, line));
    running.set(spec.name, service);
    void service.ended.then((how) => {
      if (over.signal.aborted || running.get(spec.name) !== service) return;
      if (!allReady) {
        fail(new Error(`${spec.name} exited unexpectedly: ${how}`));
        return;
      }
      onEnded(spec.name, how);
      setTimeout(() => {
        if (!over.signal.aborted && running.get(spec.name) === service) start(spec);
      }, restartDelayMs);
    });
  };
  const replace = async (spec: ServiceSpec): Promise<void> => {
    const before = running.get(spec.name);
    running.delete(spec.name);
    await before?.stop(stopDeadlineMs);
    if (!over.signal.aborted) start(spec);
  };

  for (const spec of specs) start(spec);
  onStart?.(async () => void (await Promise.all(specs.map(replace))));
  void databaseEnded?.then(() => fail(new Error('Postgres exited unexpectedly.')));
  try {
    const giveUp = AbortSignal.any([over.signal, AbortSignal.timeout(startDeadlineMs)]);
    const ready = Promise.all(specs.map((spec) => untilReady(spec, giveUp))).then(() => {
      if (over.signal.aborted) return;
      allReady = true;
      onReady();
    });
    await Promise.race([ready.then(() => interrupted), interrupted, failure]);
  } finally {
    over.abort();
    await Promise.all([...running.values()].map((service) => service.stop(stopDeadlineMs)));
  }
}
