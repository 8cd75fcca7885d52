import { parentPort, workerData } from 'node:worker_threads';
import type { Client } from 'pg';
import { type HeartbeatData, lostMessage } from './heartbeat.js';
import { beat } from './sql/servers.js';

const { database, serverId, intervalMs, processing } = workerData as HeartbeatData;
const running = new Int32Array(processing);

/** A beat that failed is repeated sooner than the next would come. */
const retryMs = Math.min(1_000, intervalMs);

let client: Client | undefined;
let timer: NodeJS.Timeout | undefined;
let leaving = false;

/** The driver is loaded for the first beat, not before: it takes a third of a second of a core, and many servers live shorter. */
async function connect(): Promise<Client> {
  const [{ default: pg }, { connectionConfig }] = await Promise.all([import('pg'), import('./database.js')]);
  const applicationName = `${database.applicationName} heartbeat`;
  const fresh = new pg.Client({
    ...connectionConfig({ ...database, applicationName, statementTimeoutMs: Math.ceil(intervalMs) }),
    query_timeout: intervalMs, // for a network that swallows packets
  });
  fresh.on('error', () => undefined); // the next beat fails and connects anew
  await fresh.connect();
  return fresh;
}

/** Returns whether the server is still among the living. */
async function sendBeat(): Promise<boolean> {
  client ??= await connect();
  const { rowCount } = await client.query(beat.text, [serverId, Atomics.load(running, 0)]);
  return rowCount === 1;
}

async function goOn(): Promise<void> {
  let pauseMs = intervalMs;
  try {
    if (!(await sendBeat())) {
      parentPort?.postMessage(lostMessage);
      leaving = true;
    }
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
timer = setTimeout(() => void goOn(), intervalMs);
