import { parentPort, workerData } from 'node:worker_threads';
import type { Client } from 'pg';
import type { ServerRequest } from '@longshore/jobs';
import type { HeartbeatData, HeartbeatMessage } from './heartbeat.js';
import { clockDifference } from './clock-difference.js';
import { beat } from './servers.sql.js';

const { database, serverId, intervalMs, reported, states } = workerData as HeartbeatData;
const own = new Int32Array(reported);

/** A beat that failed is repeated sooner than the next would come. */
const retryMs = Math.min(1_000, intervalMs);

/** A server that has been asked for something does something else in a moment, which people want to know. */
const answerMs = Math.min(200, intervalMs);

let client: Client | undefined;
let timer: NodeJS.Timeout | undefined;
let leaving = false;
/** As the last beat measured it; the next one tells it. */
let clockAheadMs: number | null = null;
let told: HeartbeatMessage | null = null;

/** The driver is loaded for the first beat, not before: it takes a third of a second of a core, and many servers live shorter. */
async function connect(): Promise<Client> {
  const [{ default: pg }, { connectionConfig }] = await Promise.all([
    import('pg'),
    import('../connection/database.js'),
  ]);
  const applicationName = `${database.applicationName} heartbeat`;
  const fresh = new pg.Client({
    ...connectionConfig({ ...database, applicationName, statementTimeoutMs: Math.ceil(intervalMs) }),
    query_timeout: intervalMs, // for a network that swallows packets
  });
  fresh.on('error', () => undefined); // the next beat fails and connects anew
  await fresh.connect();
  return fresh;
}

/** Returns what is asked of the server, `null` for nothing, or that it is no longer among the living. */
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
    if (message !== null && message !== told) {
      parentPort?.postMessage(message);
      pauseMs = answerMs;
    }
    told = message;
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
  parentPort?.close();
  await client?.end().catch(() => undefined);
}

parentPort?.on('message', () => void leave());
// The first beat takes longer than any other, on a busy machine by seconds: it is not to be the one that comes too late.
timer = setTimeout(() => void goOn(), intervalMs / 3);
