import type { MessagePort } from 'node:worker_threads';
import type { Client } from 'pg';
import type { ServerRequest, ServerState } from '@longshore/jobs/storage';
import type { DatabaseOptions } from '../connection/database.js';
import { clockDifference } from './clock-difference.js';
import { beat } from './servers.sql.js';

/** The thread's start parameters. */
export interface HeartbeatData {
  readonly database: DatabaseOptions;
  readonly serverId: string;
  readonly intervalMs: number;
  /** Two 32-bit integers: the number of running jobs and the index of the server's state in `states`. */
  readonly reported: SharedArrayBuffer;
  readonly states: readonly ServerState[];
}

/** A message from the thread: `lost` if the server has been declared dead, otherwise an operator's request. */
export type HeartbeatMessage = 'lost' | ServerRequest;

/** Sends heartbeats until a message arrives on the port or the server has been declared dead. */
export function runHeartbeat(data: HeartbeatData, port: MessagePort): void {
  const { database, serverId, intervalMs, reported, states } = data;
  const own = new Int32Array(reported);

  /** Interval between a failed heartbeat and the next, in milliseconds. */
  const retryMs = Math.min(1_000, intervalMs);

  /** Interval after an operator's request: the server soon changes its state, and the operator is waiting to see the change. */
  const answerMs = Math.min(200, intervalMs);

  let client: Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let leaving = false;
  /** How far this machine's clock is ahead, as measured by the last heartbeat and reported with the next one. */
  let clockAheadMs: number | null = null;
  let lastMessage: HeartbeatMessage | null = null;

  /**
   * Connects to the database. The driver is loaded only now: loading takes a third of a second of CPU time, and many servers
   * stop before their first heartbeat.
   */
  async function connect(): Promise<Client> {
    const [{ default: pg }, { connectionConfig }] = await Promise.all([
      import('pg'),
      import('../connection/database.js'),
    ]);
    const applicationName = `${database.applicationName} heartbeat`;
    const fresh = new pg.Client({
      ...connectionConfig({ ...database, applicationName, statementTimeoutMs: Math.ceil(intervalMs) }),
      query_timeout: intervalMs, // for a network that drops packets
    });
    fresh.on('error', () => undefined); // the next beat fails and reconnects
    await fresh.connect();
    return fresh;
  }

  /** Returns the operator's request, `null` if there is none, or `lost` if the server has been declared dead. */
  async function sendBeat(): Promise<HeartbeatMessage | null> {
    client ??= await connect();
    const values = [serverId, Atomics.load(own, 0), states[Atomics.load(own, 1)], clockAheadMs];
    const askedAtMs = Date.now();
    const { rows } = await client.query<{ requested: ServerRequest | null; now: string }>(beat.text, values);
    const [row] = rows;
    if (row !== undefined) clockAheadMs = clockDifference(askedAtMs, Number(row.now), Date.now());
    return row === undefined ? 'lost' : row.requested;
  }

  async function goOn(): Promise<void> {
    let pauseMs = intervalMs;
    try {
      const message = await sendBeat();
      if (message !== null && message !== lastMessage) {
        port.postMessage(message);
        pauseMs = answerMs;
      }
      lastMessage = message;
      leaving ||= message === 'lost';
    } catch {
      pauseMs = retryMs;
      void client?.end().catch(() => undefined);
      client = undefined;
    }
    if (leaving) await leave();
    else timer = setTimeout(() => void goOn(), pauseMs);
  }

  async function leave(): Promise<void> {
    leaving = true;
    clearTimeout(timer);
    port.close();
    await client?.end().catch(() => undefined);
  }

  port.on('message', () => void leave());
  // The first heartbeat is sent early because it is the slowest: on a busy machine it takes seconds longer than the others.
  timer = setTimeout(() => void goOn(), intervalMs / 3);
}
