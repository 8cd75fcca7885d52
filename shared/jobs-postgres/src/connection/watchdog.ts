import type pg from 'pg';
import { connectionConfig, type DatabaseOptions } from './database-options.js';
import { UnresponsiveError } from './errors.js';
import { Hosts } from './hosts.js';
import { Probe, type Reply } from './probe.js';
import { meaning } from './session.js';
import { destroy, WatchedSession } from './watched-session.js';

/**
 * All durations are counted in ticks of one timer. A tick that is late counts as one, so a blocked event loop or a frozen
 * process is not mistaken for a silent server.
 */
const ticksPerTimeout = 10;

/** How long a session may be silent before the server is probed. */
const silentTicks = 2;
/** How long a probe over an open connection may take before a new connection is tried. */
const openProbeTicks = 2;
/** How long a probe over a new connection may take. Together with one tick of uncertainty, the sum is the timeout. */
const newProbeTicks = ticksPerTimeout - silentTicks - openProbeTicks - 1;
/** The shortest time between the ends of a probe and the beginning of the next. */
const betweenProbesTicks = 4;
/**
 * How many probes in a row must be answered in part only, while no session hears anything, before the server counts as
 * silent. It takes longer than with probes that are not answered at all, because a pooler lets questions wait while all of its
 * connections to Postgres are busy. With the default timeout, it takes 15 s, half of what a server may be silent.
 */
const maxPartial = 10;
/** How long the server keeps being probed after nobody has asked for a connection. */
const forgottenTicks = 100;

/** How much longer than its statement may take a session may be silent, in milliseconds. */
const marginMs = 5_000;

/**
 * Watches all connections of this process to one Postgres, and closes those that will never be answered: a dead host, a
 * frozen server or a broken network sends nothing, not even a reset.
 *
 * A session that owes an answer and has sent nothing for a while is only a reason to ask the server, over a connection
 * of the watchdog. If that is not answered either, and no other session receives anything, all sessions are closed, and
 * new ones are refused until the server answers again. If it is answered, the answer lists the sessions that are running a
 * statement. These may take as long as their statement may; a session that the server does not know is closed. It leads
 * to another server, for example after a failover.
 *
 * When a session is lost, whatever lies between may have forgotten others, too, such as a firewall that has restarted. Idle
 * sessions that have heard nothing since are therefore closed before they serve a call.
 */
export class Watchdog {
  readonly #timeoutMs: number;
  readonly #isPooled: boolean;
  readonly #createProbe: () => Probe;
  readonly #forget: () => void;
  /** Where to connect, if the URL names several hosts or an attribute of the session. */
  readonly hosts: Hosts | undefined;
  readonly #sessions = new Map<object, WatchedSession>();
  /** For each pool, a function that returns the connections that nobody has borrowed. */
  readonly #pools = new Set<() => readonly object[]>();
  readonly #waiting = new Set<{ ticks: number; readonly reject: (error: Error) => void }>();
  readonly #alarms = new Set<{ ticks: number; readonly ring: () => void }>();
  #probe: Probe | undefined;
  #isProbing = false;
  #ticksUntilProbe = 0;
  /** How many probes in a row have been answered in part, while no session heard anything. */
  #partial = 0;
  #unaskedTicks = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Whether new connections are refused. */
  #isUnresponsive = false;

  /** @param forget called when nothing is left to watch */
  constructor(options: DatabaseOptions, forget: () => void) {
    this.#timeoutMs = options.silenceTimeoutMs;
    this.#isPooled = options.pooler === 'transaction';
    this.#forget = forget;
    const applicationName = `${options.applicationName} probe`;
    const config = connectionConfig({ ...options, applicationName, statementTimeoutMs: 5_000 }, meaning);
    this.hosts = options.connection.hosts && new Hosts(options.connection.hosts, config);
    this.#createProbe = () => new Probe(config, this.hosts);
  }

  /** @throws {UnresponsiveError} if the server is known not to answer */
  requireResponsive(): void {
    this.#unaskedTicks = 0;
    if (this.#isUnresponsive) throw new UnresponsiveError(this.#timeoutMs);
  }

  /**
   * Watches a connection until it ends, from before it is opened if possible.
   *
   * @param statementTimeoutMs maximum duration of its statements, in milliseconds; 0 for no limit
   */
  watch(client: pg.ClientBase, statementTimeoutMs: number): void {
    if (this.#sessions.has(client)) return;
    this.#sessions.set(client, new WatchedSession(client, statementTimeoutMs));
    client.once('end', () => this.unwatch(client));
    this.#start();
  }

  unwatch(client: pg.ClientBase): void {
    this.#sessions.delete(client);
  }

  /**
   * Closes connections of a pool that may be lost while nobody uses them.
   *
   * @param idle returns the connections that nobody has borrowed
   * @returns a function that ends this
   */
  watchIdle(idle: () => readonly object[]): () => void {
    this.#pools.add(idle);
    return () => this.#pools.delete(idle);
  }

  /** Returns the task's result. Rejects, without stopping the task, if the server does not respond meanwhile. */
  async unlessUnresponsive<Result>(task: Promise<Result>): Promise<Result> {
    this.requireResponsive();
    let waiting: { ticks: number; readonly reject: (error: Error) => void } | undefined;
    const unanswered = new Promise<never>((_resolve, reject) => {
      waiting = { ticks: 0, reject };
      this.#waiting.add(waiting);
    });
    this.#start();
    try {
      return await Promise.race([task, unanswered]);
    } finally {
      if (waiting !== undefined) this.#waiting.delete(waiting);
    }
  }

  #start(): void {
    this.#timer ??= setInterval(() => this.#tick(), this.#timeoutMs / ticksPerTimeout).unref();
  }

  #tick(): void {
    for (const alarm of this.#alarms) {
      alarm.ticks -= 1;
      if (alarm.ticks > 0) continue;
      this.#alarms.delete(alarm);
      alarm.ring();
    }
    this.#ticksUntilProbe -= 1;
    this.#unaskedTicks += 1;
    let isSilent = this.#isUnresponsive;
    for (const session of this.#sessions.values()) isSilent = session.tick() >= silentTicks || isSilent;
    for (const waiting of this.#waiting) isSilent = ++waiting.ticks >= silentTicks || isSilent;
    if (isSilent) this.#closeOverdue();
    if (this.#isProbing) return;
    if (this.#isForgotten()) this.#stop();
    else if (isSilent && this.#ticksUntilProbe <= 0) void this.#examine();
    else if (!isSilent) this.#closeProbe();
  }

  #isForgotten(): boolean {
    if (this.#isUnresponsive) return this.#unaskedTicks > forgottenTicks;
    return this.#sessions.size === 0 && this.#waiting.size === 0;
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#isUnresponsive = false;
    this.#closeProbe();
    this.#forget();
  }

  /** Closes sessions that have been silent for longer than their statement may take, unless it is known to run. */
  #closeOverdue(): void {
    const tickMs = this.#timeoutMs / ticksPerTimeout;
    const lost = [...this.#sessions.values()].filter(
      ({ statementTimeoutMs, ticks, isRunning }) =>
        !isRunning && statementTimeoutMs > 0 && ticks * tickMs >= statementTimeoutMs + marginMs,
    );
    this.#lose(lost);
  }

  /** Closes sessions that are lost, and idle ones that have heard nothing since. */
  #lose(lost: readonly WatchedSession[]): void {
    const tickMs = this.#timeoutMs / ticksPerTimeout;
    let ticks = Infinity;
    for (const session of lost) {
      if (session.isOpen) ticks = Math.min(ticks, session.ticks);
      session.close(new UnresponsiveError(session.ticks * tickMs));
    }
    if (ticks === Infinity) return;
    for (const idle of this.#pools)
      for (const client of idle()) {
        const session = this.#sessions.get(client);
        if (session !== undefined && session.unheardTicks >= ticks)
          session.close(new UnresponsiveError(session.unheardTicks * tickMs));
      }
  }

  async #examine(): Promise<void> {
    this.#isProbing = true;
    for (const session of this.#sessions.values()) session.mark();
    const reply = await this.#ask();
    // Lets sessions whose answers have arrived with the probe's read them first.
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    const hasHeard = this.#hasHeard();
    this.#partial = reply.isPartial === true && !hasHeard ? this.#partial + 1 : 0;
    const isDoubtful = this.#partial >= maxPartial || (this.#partial > 0 && this.#isUnresponsive);
    if ((reply.isAlive && !isDoubtful) || hasHeard) this.#judge(reply);
    else this.#giveUp();
    this.#isProbing = false;
    this.#ticksUntilProbe = this.#isUnresponsive ? 1 : betweenProbesTicks;
  }

  /** Whether any session has received anything. What new statements send proves nothing, because the kernel accepts it. */
  #hasHeard(): boolean {
    return [...this.#sessions.values()].some((session) => session.hasHeard);
  }

  async #ask(): Promise<Reply> {
    const pids = [...this.#sessions.values()].flatMap(({ pid }) => pid ?? []);
    const open = this.#probe;
    if (open !== undefined) {
      const reply = await Promise.race([open.ask(pids), this.#ticksLater(openProbeTicks)]);
      if (reply?.isAlive === true) return reply;
      this.#closeProbe();
    }
    const probe = this.#createProbe();
    this.#probe = probe;
    const late = this.#ticksLater(newProbeTicks);
    const reply = await Promise.race([probe.ask(pids), late]);
    if (reply?.isAlive === true) return { ...reply, isNew: true };
    await late; // a refused connection is not worse than a silent one: another server may be about to take over
    const { hasHeard } = probe;
    this.#closeProbe();
    return { isAlive: hasHeard, isPartial: hasHeard };
  }

  #ticksLater(ticks: number): Promise<undefined> {
    return new Promise((resolve) => {
      this.#alarms.add({ ticks, ring: () => resolve(undefined) });
    });
  }

  /** Closes the sessions that the server does not have, and those that wait for a result that it does not work on. */
  #judge({ states, isNew = false }: Reply): void {
    this.#isUnresponsive = false;
    const lost = [...this.#sessions.values()].filter(
      (session) =>
        !session.hasProgressed &&
        session.isLost(this.#isPooled ? undefined : states, isNew ? ticksPerTimeout - 2 : Infinity),
    );
    this.#lose(lost);
  }

  #giveUp(): void {
    this.#isUnresponsive = true;
    this.hosts?.forget();
    for (const session of this.#sessions.values()) session.close(new UnresponsiveError(this.#timeoutMs));
    for (const { reject } of this.#waiting) reject(new UnresponsiveError(this.#timeoutMs));
    this.#waiting.clear();
  }

  #closeProbe(): void {
    if (this.#probe !== undefined) destroy(this.#probe.client);
    this.#probe = undefined;
  }
}

/** The watchdogs of this process, by where they connect. */
const watchdogs = new Map<string, Watchdog>();

/** Numbers of functions and other values that cannot be written as JSON. */
const numbers = new WeakMap<object, number>();
let lastNumber = 0;

/** Returns the watchdog of the Postgres that the options lead to. All pools of the process share it. */
export function watchdogOf(options: DatabaseOptions): Watchdog {
  const { connection, pooler, silenceTimeoutMs } = options;
  const key = JSON.stringify([connection, pooler, silenceTimeoutMs], (_name, value: unknown) => {
    if (typeof value !== 'function') return value;
    if (!numbers.has(value)) numbers.set(value, (lastNumber += 1));
    return numbers.get(value);
  });
  const existing = watchdogs.get(key);
  if (existing !== undefined) return existing;
  const created = new Watchdog(options, () => watchdogs.delete(key));
  watchdogs.set(key, created);
  return created;
}
