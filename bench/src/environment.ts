import { execFile } from 'node:child_process';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { promisify } from 'node:util';
import { absurdSql } from './contenders/absurd.js';
import { type ContenderName, remarks } from './contenders/index.js';
import { type BenchDatabase, databaseSettings } from './database.js';
import { peerNode, type PeerVersions } from './peers.js';

/** Names and descriptions of what can affect a run's results apart from Longshore's code, such as the machine. */
export type Environment = Readonly<Record<string, string>>;

export async function describeEnvironment(
  database: BenchDatabase,
  peers: PeerVersions,
  contenders: readonly ContenderName[],
): Promise<Environment> {
  const { stdout } = await promisify(execFile)(peerNode(), ['--version']);
  return {
    date: new Date().toISOString(),
    machine: `${availableParallelism()} cores (${cpus()[0]?.model ?? 'unknown'}), ${Math.round(totalmem() / 2 ** 30)} GiB`,
    node: `${stdout.trim()} for every measured process`,
    postgres: `${await database.version()} on the same machine, ${describeSettings()}`,
    peers: ['graphile-worker', 'pg-boss', 'bullmq', '@dbos-inc/dbos-sdk', 'absurd-sdk', 'autocannon']
      .map((name) => `${name} ${peers[name] ?? 'not installed'}`)
      .join(', '),
    ...(absurdSql() === undefined && {
      absurd:
        'left out: ABSURD_SQL does not name a copy of sql/absurd.sql from github.com/earendil-works/absurd',
    }),
    ...Object.fromEntries(
      Object.entries(remarks).filter(([name]) => contenders.includes(name as ContenderName)),
    ),
  };
}

function describeSettings(): string {
  return Object.entries(databaseSettings)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');
}
