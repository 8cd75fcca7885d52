import type { Claim } from '../job/job.js';
import { type JobLog, type LogLevel, type NewLogLine, toLogText, toProgress } from '../job/job-log.js';
import type { Clock } from '../storage/clock.js';
import type { JobReport } from '../storage/job-reports.js';

/** How much of its log an attempt may keep. */
export interface LogBounds {
  readonly maxLines: number;
  readonly maxLineBytes: number;
}

/** Progress is written no more often than this. */
const progressEveryMs = 1_000;

/** What one attempt says of itself, until the storage has it. */
export class AttemptReport {
  readonly claim: Claim;
  readonly #bounds: LogBounds;
  readonly #clock: Clock;
  readonly #onNews: (report: AttemptReport) => void;
  #lines: NewLogLine[] = [];
  #lastLine = 0;
  #progress: JobReport['progress'] = null;
  #progressWrittenMs = -Infinity;
  #ended = false;

  /**
   * @param clock of the storage
   * @param onNews called when there is something to write
   */
  constructor(claim: Claim, bounds: LogBounds, clock: Clock, onNews: (report: AttemptReport) => void) {
    this.claim = claim;
    this.#bounds = bounds;
    this.#clock = clock;
    this.#onNews = onNews;
  }

  readonly progress = (percent: number, message?: string): void => {
    if (this.#ended) return;
    this.#progress = { ...toProgress(percent, message ?? null), at: this.#now() };
    this.#onNews(this);
  };

  readonly log: JobLog = {
    debug: (message, fields) => this.#log('debug', message, fields),
    info: (message, fields) => this.#log('info', message, fields),
    warn: (message, fields) => this.#log('warn', message, fields),
    error: (message, fields) => this.#log('error', message, fields),
  };

  /** Whether there is something that the storage does not have yet. */
  get isPending(): boolean {
    return this.#lines.length > 0 || this.#progress !== null;
  }

  /** Lines that the storage does not have yet. */
  get pendingLines(): number {
    return this.#lines.length;
  }

  /** What the handler says from now on goes nowhere. */
  end(): void {
    this.#ended = true;
  }

  /** Forgets what has not been written, too. */
  discard(): void {
    this.end();
    this.#lines = [];
    this.#progress = null;
  }

  /**
   * What is to be written now, `null` if nothing is. It stays pending until it is `written`.
   *
   * @param isLast progress is written too, although the last time was a moment ago
   */
  take(isLast = this.#ended): JobReport | null {
    const isDue = isLast || performance.now() - this.#progressWrittenMs >= progressEveryMs;
    const progress = isDue ? this.#progress : null;
    return progress === null && this.#lines.length === 0
      ? null
      : { claim: this.claim, progress, lines: [...this.#lines] };
  }

  /** The storage has it. */
  written({ progress, lines }: JobReport): void {
    const last = lines.at(-1)?.line ?? 0;
    if (last > 0) this.#lines = this.#lines.filter(({ line }) => line > last);
    if (progress === null) return;
    this.#progressWrittenMs = performance.now();
    if (this.#progress === progress) this.#progress = null;
  }

  #now(): Date {
    return new Date(this.#clock.now());
  }

  #log(level: LogLevel, message: string, fields: object | undefined): void {
    const { maxLines, maxLineBytes } = this.#bounds;
    if (this.#ended || this.#lastLine > maxLines) return;
    if (this.#lastLine === maxLines) {
      const text = `Further lines were dropped: an attempt keeps ${maxLines} (maxLogLines)`;
      this.#add('warn', { message: text, fields: null });
    } else {
      this.#add(level, toLogText(message, fields, maxLineBytes));
    }
    this.#onNews(this);
  }

  #add(level: LogLevel, text: Pick<NewLogLine, 'message' | 'fields'>): void {
    this.#lines.push({ line: ++this.#lastLine, at: this.#now(), level, ...text });
  }
}
