import type { Installation } from '../storage/installation.js';
import type { Logger } from './logger.js';
import { Loop } from './loop.js';

/** Intervals between reads, in milliseconds. While the installation is paused, its end should be noticed soon. */
const everyMs = { paused: 1_000, running: 10_000 };

/** Knows whether the installation is paused, so that its servers start nothing. */
export class InstallationWatch {
  readonly #installation: Pick<Installation, 'read'>;
  readonly #logger: Logger;
  readonly #onResume: () => void;
  readonly #loop: Loop;
  #isPaused = false;

  /** @param onResume called when the installation is no longer paused */
  constructor(installation: Pick<Installation, 'read'>, logger: Logger, onResume: () => void) {
    this.#installation = installation;
    this.#logger = logger;
    this.#onResume = onResume;
    this.#loop = new Loop({
      task: 'checking whether the installation is paused',
      logger,
      runOnce: () => this.read(),
    });
  }

  /** Whether the installation was paused when it was last read. */
  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Begins to read the state regularly. The first read must have succeeded. */
  start(): void {
    this.#loop.start(this.#everyMs);
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  /** Reads the state. Resolves to the time until the next read, in milliseconds. */
  async read(): Promise<number> {
    const { name, pausedAt } = await this.#installation.read();
    const wasPaused = this.#isPaused;
    this.#isPaused = pausedAt !== null;
    if (this.#isPaused && !wasPaused)
      this.#logger.warn(
        { installation: name, pausedAt },
        'this installation is paused, because it is a restored copy: no jobs start until it is resumed',
      );
    if (!this.#isPaused && wasPaused) {
      this.#logger.info({ installation: name }, 'the installation was resumed');
      this.#onResume();
    }
    return this.#everyMs;
  }

  get #everyMs(): number {
    return this.#isPaused ? everyMs.paused : everyMs.running;
  }
}
