import type { Claim } from '../job/job.js';
import { type JobLog, type LogLevel, type NewLogLine, toLogText, toProgress } from '../job/job-log.js';
import type { Clock } from '../job/clock.js';
import type { JobReport } from '../storage/job-reports.js';

/** Limits on the log of one attempt. */
export interface LogBounds {
  readonly maxLines: number;
  readonly maxLineBytes: number;
}

/** Receives each log line that is stored, as it is stored. */
export type OnLogLine = (level: LogLevel, line: Pick<NewLogLine, 'message' | 'fields'>) => void;

/** Minimum interval between writes of an attempt's progress, in milliseconds. */
const progressEveryMs = 1_000;

/** Buffers an attempt's progress and log lines until they are stored. */
export class AttemptReport {
  readonly claim: Claim;
  readonly #bounds: LogBounds;
  readonly #clock: Clock;
  readonly #onPending: (report: AttemptReport) => void;
  readonly #elapsedMs: () => number;
  readonly #onLine: OnLogLine | undefined;
  #lines: NewLogLine[] = [];
  #lastLine = 0;
  #progress: JobReport['progress'] = null;
  #progressWrittenMs = -Infinity;
  #ended = false;

  /**
   * @param clock the storage's clock
   * @param onPending called whenever the handler reports progress or adds a log line
   * @param elapsedMs measures the interval between writes of progress
   * @param onLine called with each log line; by default, nothing is
   */
  constructor(
    claim: Claim,
    bounds: LogBounds,
    clock: Clock,
    onPending: (report: AttemptReport) => void,
    elapsedMs = () => performance.now(),
    onLine?: OnLogLine,
  ) {
    this.claim = claim;
    this.#bounds = bounds;
    this.#clock = clock;
    this.#onPending = onPending;
    this.#elapsedMs = elapsedMs;
    this.#onLine = onLine;
  }

  readonly progress = (percent: number, message?: string): void => {
    if (this.#ended) return;
    this.#progress = { ...toProgress(percent, message ?? null), at: this.#now() };
    this.#onPending(this);
  };

  readonly log: JobLog = {
    debug: (message, fields) => this.#log('debug', message, fields),
    info: (message, fields) => this.#log('info', message, fields),
    warn: (message, fields) => this.#log('warn', message, fields),
    error: (message, fields) => this.#log('error', message, fields),
  };

  /** Whether any progress or log lines are not stored yet. */
  get isPending(): boolean {
    return this.#lines.length > 0 || this.#progress !== null;
  }

  /** Number of log lines that are not stored yet. */
  get pendingLines(): number {
    return this.#lines.length;
  }

  /** Ignores everything that the handler reports from now on. */
  end(): void {
    this.#ended = true;
  }

  /** Ends the report and drops everything that has not been stored. */
  discard(): void {
    this.end();
    this.#lines = [];
    this.#progress = null;
  }

  /**
   * Returns the progress and log lines to write now; `null` if there are none. The returned data stays pending until
   * `written` is called.
   *
   * @param isLast whether to include progress even if it was last written less than a second ago; by default, whether
   *   the report has ended
   */
  take(isLast = this.#ended): JobReport | null {
    const isDue = isLast || this.#elapsedMs() - this.#progressWrittenMs >= progressEveryMs;
    const progress = isDue ? this.#progress : null;
    return progress === null && this.#lines.length === 0
      ? null
      : { claim: this.claim, progress, lines: [...this.#lines] };
  }

  /** Marks the result of `take` as stored. Progress and lines that the handler has reported since then stay pending. */
  written({ progress, lines }: JobReport): void {
    const last = lines.at(-1)?.line ?? 0;
    if (last > 0) this.#lines = this.#lines.filter(({ line }) => line > last);
    if (progress === null) return;
    this.#progressWrittenMs = this.#elapsedMs();
    if (this.#progress === progress) this.#progress = null;
  }

  #now(): Date {
    return new Date(this.#clock.now());
  }

  #log(level: LogLevel, message: string, fields: object | undefined): void {
    const { maxLines, maxLineBytes } = this.#bounds;
    if (this.#ended || this.#lastLine > maxLines) return;
    if (this.#lastLine === maxLines) {
      const text = `Further lines were dropped: the limit is ${maxLines} per attempt (maxLogLines)`;
      this.#add('warn', { message: text, fields: null });
    } else {
      this.#add(level, toLogText(message, fields, maxLineBytes));
    }
    this.#onPending(this);
  }

  #add(level: LogLevel, text: Pick<NewLogLine, 'message' | 'fields'>): void {
    this.#lines.push({ line: ++this.#lastLine, at: this.#now(), level, ...text });
    this.#onLine?.(level, text);
  }
}
