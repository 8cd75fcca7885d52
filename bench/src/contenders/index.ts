import type { MakeContender } from './contender.js';
import { graphileWorker } from './graphile-worker.js';
import { longshore } from './longshore.js';
import { pgBoss } from './pg-boss.js';

export const contenders = {
  longshore,
  'graphile-worker': graphileWorker,
  'pg-boss': pgBoss,
} as const satisfies Record<string, MakeContender>;

export type ContenderName = keyof typeof contenders;
