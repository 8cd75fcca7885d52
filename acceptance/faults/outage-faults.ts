import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '@longshore/test-support';
import type pg from 'pg';
import { theirs } from './observer.js';
import { outage } from './outage.js';
import type { Stage } from './stage.js';

/**
 * Everything that the services and Postgres send over open connections is lost, for ever and without a reset, as if a host
 * had vanished. New connections are silent, too, until the end: then they lead to a server that answers.
 */
export const networkSilent = outage({
  begin: ({ network }) => Promise.resolve(network.lose()),
  end: ({ network }) => Promise.resolve(network.recover()),
});

/** A proxy in front of Postgres is frozen. What it has accepted arrives when it is thawed. */
export const proxyFrozen = outage({
  begin: ({ network }) => Promise.resolve(network.freeze()),
  end: ({ network }) => Promise.resolve(network.thaw()),
});

/** Every process of Postgres is stopped with SIGSTOP. */
export const postgresStopped = outage({
  begin: ({ postgres }) => postgres.freeze(),
  end: ({ postgres }) => postgres.thaw(),
});

async function setReadOnly({ observer }: Stage, change: string): Promise<void> {
  await observer.query(`alter system ${change}`);
  await observer.query('select pg_reload_conf()');
}

/** Postgres accepts only reads, as after a failover that left the services with a standby. */
export const readOnly = outage({
  begin: (stage) => setReadOnly(stage, 'set default_transaction_read_only = on'),
  end: async (stage) => {
    await setReadOnly(stage, 'reset default_transaction_read_only');
    await eventually(
      () => stage.observer.query<{ at: string }>('show default_transaction_read_only'),
      ([row]) => JSON.stringify(row).includes('off'),
    );
  },
});

/** Clients that occupy connections. */
const taken = new Set<pg.Client>();

async function take({ observer }: Stage): Promise<boolean> {
  try {
    taken.add(await observer.connect('taker'));
    return true;
  } catch {
    return false;
  }
}

/**
 * Terminates the connections of the services and the enqueuers, while other clients occupy every connection that Postgres
 * has, except for the observer's.
 */
export const connectionsExhausted = outage({
  prepare: async (stage) => {
    await stage.observer.read('select 1');
    while ((await Promise.all(Array.from({ length: 10 }, () => take(stage)))).every(Boolean));
  },
  during: async (stage, signal) => {
    while (!signal.aborted) {
      const cut = await stage.observer.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where ${theirs}`,
      );
      while (await take(stage));
      if (cut.length === 0) await sleep(100);
    }
  },
  end: async () => {
    await Promise.all([...taken].map((client) => client.end().catch(() => undefined)));
    taken.clear();
  },
});

/**
 * The disk of Postgres is full. Tables cannot grow, and neither can the write-ahead log, which ends all sessions; Postgres may
 * end as well. It is started again when there is room, also if it waits for ever for a process that would recover it, but has
 * ended because the disk was full (seen with Postgres 18.4).
 */
export const diskFull = outage({
  begin: async ({ postgres }) => postgres.disk?.fill(),
  during: async ({ observer }, signal) => {
    while (!signal.aborted) {
      // Uses up the segments of the log that have been allocated in advance.
      await observer.query('select pg_switch_wal()').catch(() => undefined);
      await sleep(100);
    }
  },
  end: async ({ postgres, observer }) => {
    await postgres.disk?.extend();
    await eventually(async () => {
      if (postgres.hasEnded()) await postgres.start();
      try {
        return await observer.query('select 1');
      } catch (error) {
        if (!postgres.hasEnded() && !(await postgres.isRecovering())) await postgres.kill();
        throw error;
      }
    });
  },
});
