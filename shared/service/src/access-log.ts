import type { Logger } from 'pino';
import type { EndedRequest } from './observed-requests.js';

/** How many requests with a status of 500 or above are logged with a line each, per second. */
const errorLinesPerSecond = 20;

/** Routes that probes and scrapers request all the time. */
export const probes = /\/(healthz|readyz|metrics|metrics\/storage)$/;

/** Longest path to log, in characters. */
const maxPathLength = 500;

/** Longer segments of a path are cut, because they can be keys or tokens: no id is that long. */
const longSegment = /([^/]{8})[^/]{57,}/g;

/**
 * Logs requests with a line each, up to a limit per second, and counts the others in one line at the end of that second, by status. Requests
 * with a status of 500 or above have a limit of their own, so that others never crowd them out. Successful probes and scrapes
 * are not logged, and failing ones only when their status has changed, because a probe repeats its question all the time.
 */
export class AccessLog {
  readonly #logger: Pick<Logger, 'info'>;
  readonly #linesPerSecond: number;
  readonly #afterSecond: (work: () => void) => void;
  #lines = 0;
  #errorLines = 0;
  #isCounting = false;
  readonly #unlogged = new Map<number, number>();
  /** The latest status of each probe, by route. */
  readonly #probed = new Map<string, number>();

  /**
   * @param linesPerSecond the limit for requests with a status below 500; with 0, they are neither logged nor counted
   * @param afterSecond calls a function after a second; by default, with a timer that does not keep the process running
   */
  constructor(
    logger: Pick<Logger, 'info'>,
    linesPerSecond: number,
    afterSecond: (work: () => void) => void = (work) => void setTimeout(work, 1_000).unref(),
  ) {
    this.#logger = logger;
    this.#linesPerSecond = linesPerSecond;
    this.#afterSecond = afterSecond;
  }

  /** Logs a request that has ended, or counts it. */
  readonly add = (request: EndedRequest): void => {
    const { status, route } = request;
    const isError = status >= 500;
    if (!isError && this.#linesPerSecond === 0) return;
    if (probes.test(route)) {
      const isChanged = this.#probed.get(route) !== status;
      this.#probed.set(route, status);
      if (status < 400 || !isChanged) return;
    }
    this.#count();
    const isLogged = isError
      ? this.#errorLines++ < errorLinesPerSecond
      : this.#lines++ < this.#linesPerSecond;
    if (isLogged) this.#logger.info(fieldsOf(request), 'request');
    else this.#unlogged.set(status, (this.#unlogged.get(status) ?? 0) + 1);
  };

  /** Starts a second, unless one is running. */
  #count(): void {
    if (this.#isCounting) return;
    this.#isCounting = true;
    this.#afterSecond(() => {
      this.#isCounting = false;
      this.#lines = 0;
      this.#errorLines = 0;
      if (this.#unlogged.size === 0) return;
      const statuses = Object.fromEntries(this.#unlogged);
      this.#unlogged.clear();
      this.#logger.info({ statuses }, 'further requests within a second, by status');
    });
  }
}

/** Returns a path without long segments. */
export function shownPath(path: string): string {
  return path.replaceAll(longSegment, '$1…').slice(0, maxPathLength);
}

function fieldsOf({ id, traceId, path, durationMs, ...request }: EndedRequest): object {
  const { method, route, status, bytes, address } = request;
  return {
    requestId: id,
    ...(traceId !== null && { traceId }),
    method,
    path: shownPath(path),
    route,
    status,
    durationMs: Math.round(durationMs * 10) / 10,
    bytes,
    address,
  };
}
