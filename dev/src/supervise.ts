import { runService, untilReady, type ServiceSpec } from './service-process.js';

export interface Supervision {
  readonly specs: readonly ServiceSpec[];
  /** Resolves if the database ends by itself; absent if there is none. */
  readonly databaseEnded?: Promise<void>;
  /** Resolves when everything should stop. */
  readonly interrupted: Promise<void>;
  /** Called with each line that a service writes. */
  readonly onLine: (service: string, line: string) => void;
  /** Called once all services are ready. */
  readonly onReady: () => void;
  /** How long all services may take to become ready, in milliseconds; 60 000 by default. */
  readonly startDeadlineMs?: number;
  /** How long a service may take to stop before it is killed, in milliseconds; 2 000 by default. */
  readonly stopDeadlineMs?: number;
}

/**
 * Runs the services until `interrupted` resolves or one of them fails, and then stops all of them.
 *
 * @throws if a service or the database ends by itself, or a service does not become ready; the message names which one
 */
export async function supervise(supervision: Supervision): Promise<void> {
  const { specs, databaseEnded, interrupted, onLine, onReady } = supervision;
  const { startDeadlineMs = 60_000, stopDeadlineMs = 2_000 } = supervision;
  const over = new AbortController();
  const running = specs.map((spec) => runService(spec, (line) => onLine(spec.name, line)));
  const failures = running.map(async ({ name, ended }) => {
    throw new Error(`${name} ended by itself: ${await ended}`);
  });
  if (databaseEnded !== undefined) {
    failures.push(databaseEnded.then(() => Promise.reject(new Error('Postgres ended by itself.'))));
  }
  try {
    const giveUp = AbortSignal.any([over.signal, AbortSignal.timeout(startDeadlineMs)]);
    const allReady = Promise.all(specs.map((spec) => untilReady(spec, giveUp)));
    const outcome = await Promise.race([
      allReady,
      interrupted.then(() => 'interrupted' as const),
      ...failures,
    ]);
    if (outcome === 'interrupted') return;
    onReady();
    await Promise.race([interrupted, ...failures]);
  } finally {
    over.abort();
    await Promise.all(running.map((service) => service.stop(stopDeadlineMs)));
  }
}
