import {
  type AlertMessage,
  type Alerts,
  checkOptions,
  type OptionNames,
  targetsKeptMs,
} from '@longshore/jobs/storage';
import { Cache } from '../cache/cache.js';
import { checkWarnings, recordWarnings } from '../diagnosis/health.js';
import { cachedReader } from '../reading/cached-reader.js';
import type { DashboardStorage } from '../reading/dashboard-reader.js';
import type { PageContext } from '../shell/page.js';
import { type Origin, TIMEOUT_MS, Webhook, type WebhookOptions } from './webhook.js';

/** Default interval between checks of the warnings, in milliseconds. Each check runs in only one process. */
const EVERY_MS = 10_000;
/** Default interval at which each process polls for messages to send, in milliseconds. */
const POLL_MS = 2_000;
const READ_TIMEOUT_MS = 5_000;
const CACHE_MS = 1_000;
/** Maximum number of messages claimed at once. */
const BATCH = 10;
/** Duration of the lease of a claimed message, as a multiple of the time limit for sending it. */
const LEASE_FACTOR = 2;

export interface AlertOptions extends Partial<Origin> {
  readonly storage: DashboardStorage & { readonly alerts: Alerts };
  readonly webhooks: readonly WebhookOptions[];
  /**
   * Called with each error. If a delivery failed, `target` identifies the webhook by host and a short hash of the URL.
   * If checking the warnings, reading the messages or updating them failed, `target` is `null`.
   */
  readonly onError?: ((error: Error, target: string | null) => void) | undefined;
  /** Milliseconds between checks of the warnings. Defaults to 10,000. */
  readonly everyMs?: number;
  /** Milliseconds between polls for messages. Defaults to 2000. */
  readonly pollMs?: number;
  /** Milliseconds in which a webhook must respond. Defaults to 10,000. */
  readonly timeoutMs?: number;
}

const alertOptions: OptionNames<AlertOptions> = {
  storage: true,
  webhooks: true,
  onError: true,
  everyMs: true,
  pollMs: true,
  timeoutMs: true,
  instance: true,
  baseUrl: true,
};

/**
 * Checks the warnings, records their incidents, and sends a message to each webhook when one begins or ends. Several
 * processes can run an `AlertSender` for the same storage: they share the checks and the messages. A message can be sent
 * more than once. Without webhooks, incidents are recorded all the same.
 */
export class AlertSender {
  readonly #options: AlertOptions;
  readonly #webhooks: ReadonlyMap<string, Webhook>;
  readonly #origin: Origin;
  readonly #timeoutMs: number;
  readonly #context: Pick<PageContext, 'reader' | 'cache' | 'now' | 'machineNow'>;
  readonly #closing = new AbortController();
  #registeredAtMs = Number.NEGATIVE_INFINITY;
  /** Whether the installation was paused when it was last read. Nothing is sent before it has been read. */
  #isPaused = true;
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> = Promise.resolve();

  /** @throws {TypeError} if an option is unknown, a webhook's URL or secret is not valid, or two have the same name */
  constructor(options: AlertOptions) {
    checkOptions('AlertSender', options, alertOptions);
    const { instance = '', baseUrl = null, timeoutMs = TIMEOUT_MS } = options;
    const { storage } = options;
    const now = (): number => storage.clock.now();
    const cache = new Cache(CACHE_MS, now);
    this.#context = { reader: cachedReader(storage, cache), cache, now, machineNow: Date.now };
    this.#options = options;
    this.#timeoutMs = timeoutMs;
    this.#origin = { instance, baseUrl };
    const names = options.webhooks.flatMap(({ name }) => name ?? []);
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    if (twice !== undefined) throw new TypeError(`The alert URLs have the name "${twice}" twice`);
    this.#webhooks = new Map(
      options.webhooks
        .map((webhook) => new Webhook(webhook, timeoutMs))
        .map((webhook) => [webhook.target, webhook]),
    );
  }

  /** Starts checking warnings and sending messages. The storage must be open. */
  start(): void {
    this.#plan(0);
  }

  /** Without webhooks, there is only the check to wait for. */
  get #pollMs(): number {
    const { pollMs = POLL_MS, everyMs = EVERY_MS } = this.#options;
    return this.#webhooks.size === 0 ? everyMs / 2 : pollMs;
  }

  /**
   * Stops checking and sending. The message of an interrupted delivery is sent again, by any process, once its lease
   * has expired.
   */
  async stop(): Promise<void> {
    this.#closing.abort(new Error('The dashboard is stopping'));
    clearTimeout(this.#timer);
    await this.#round;
  }

  #plan(ms: number): void {
    this.#timer = setTimeout(() => {
      this.#round = this.#runOnce().finally(() => {
        if (!this.#closing.signal.aborted) this.#plan(this.#pollMs);
      });
    }, ms);
  }

  async #runOnce(): Promise<void> {
    for (const work of [() => this.#register(), () => this.#check(), () => this.#send()]) {
      try {
        await work();
      } catch (error) {
        this.#report(error, null);
      }
    }
  }

  /** Registers the webhooks, well before their registration expires, unless the installation is paused. */
  async #register(): Promise<void> {
    const { storage } = this.#options;
    if (this.#webhooks.size === 0) return;
    this.#isPaused = (await storage.installation.read()).pausedAt !== null;
    const nowMs = performance.now();
    if (this.#isPaused)
      this.#registeredAtMs = Number.NEGATIVE_INFINITY; // the registration was dropped
    else if (nowMs - this.#registeredAtMs >= targetsKeptMs / 4) {
      await storage.alerts.register([...this.#webhooks.keys()]);
      this.#registeredAtMs = nowMs;
    }
  }

  async #check(): Promise<void> {
    const { storage, everyMs = EVERY_MS } = this.#options;
    await recordWarnings(storage.incidents, everyMs, () => checkWarnings(this.#context, READ_TIMEOUT_MS));
  }

  async #send(): Promise<void> {
    const { alerts } = this.#options.storage;
    const targets = [...this.#webhooks.keys()];
    if (targets.length === 0 || this.#isPaused) return;
    const messages = await alerts.take(targets, BATCH, LEASE_FACTOR * this.#timeoutMs);
    await Promise.all(messages.map((message) => this.#deliver(message)));
  }

  async #deliver(message: AlertMessage): Promise<void> {
    const { alerts } = this.#options.storage;
    const { signal } = this.#closing;
    try {
      await this.#webhooks.get(message.target)?.send(message, this.#origin, signal);
    } catch (error) {
      if (signal.aborted) return;
      this.#report(error, message.target);
      await alerts.failed(message, error instanceof Error ? error.message : String(error));
      return;
    }
    await alerts.delivered(message);
  }

  #report(error: unknown, target: string | null): void {
    this.#options.onError?.(error instanceof Error ? error : new Error(String(error)), target);
  }
}
