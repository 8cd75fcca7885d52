import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import type { JobContext } from '../handler.js';
import { toErrorData } from './error-data.js';
import type { ThreadMessage } from './thread-task.js';

/**
 * The main thread's side of a handler that runs in a worker thread. Forwards the abort signal to the thread, and the
 * handler's progress and log lines to the job.
 */
export class ThreadAttempt {
  readonly #context: JobContext<unknown>;
  readonly #port: MessagePort;
  readonly #graceMs: number;
  readonly #end = new AbortController();
  #started = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(context: JobContext<unknown>, port: MessagePort, graceMs: number) {
    this.#context = context;
    this.#port = port;
    this.#graceMs = graceMs;
    port.on('message', (message: ThreadMessage) => this.#onMessage(message));
    if (context.signal.aborted) this.#abort();
    else context.signal.addEventListener('abort', this.#abort);
  }

  /**
   * Aborts when the run must end without waiting for the handler. If the handler has started, its thread is terminated.
   * Otherwise, the handler never starts.
   */
  get ended(): AbortSignal {
    return this.#end.signal;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#context.signal.removeEventListener('abort', this.#abort);
    this.#drainMessages();
    this.#port.close();
  }

  readonly #abort = (): void => {
    this.#drainMessages();
    this.#port.postMessage({ reason: toErrorData(this.#context.signal.reason) });
    // A task that still waits for a thread gets no grace period.
    if (this.#started) this.#timer = setTimeout(() => this.#end.abort(), this.#graceMs);
    else this.#end.abort();
  };

  /**
   * Processes all queued messages now. The result arrives on another channel and could otherwise be processed first.
   */
  #drainMessages(): void {
    for (;;) {
      const next: { message: ThreadMessage } | undefined = receiveMessageOnPort(this.#port);
      if (next === undefined) return;
      this.#onMessage(next.message);
    }
  }

  #onMessage(message: ThreadMessage): void {
    switch (message.kind) {
      case 'started':
        this.#started = true;
        break;
      case 'progress':
        this.#context.progress(message.percent, message.message);
        break;
      case 'log':
        this.#context.log[message.level](
          message.message,
          message.fields === null ? undefined : (JSON.parse(message.fields) as object),
        );
        break;
    }
  }
}
