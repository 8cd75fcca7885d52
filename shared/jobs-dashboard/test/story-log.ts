import type { ClaimedJob, LogLevel } from '@longshore/jobs/storage';
import type { SeededStorage } from './seeded-storage.js';

type Line = readonly [level: LogLevel, message: string, fields: object | null];

const lines: readonly Line[] = [
  ['info', 'Reading the price list', { supplier: 'northern-lights', bytes: 1_482_113 }],
  ['debug', 'Logged in', { account: 'shop', apiToken: 'tok_9911' }],
  ['info', 'Page 40 of 214', { articles: 1_960 }],
  ['warn', 'Article without a price, left out', { article: 'NL-40021', page: 57 }],
  ['error', 'Picture is damaged', { article: 'NL-40388', reason: 'unexpected end of file' }],
  ['info', 'Page 90 of 214', { articles: 4_402 }],
];

export async function reportImport(storage: SeededStorage, { claim }: ClaimedJob): Promise<void> {
  const now = storage.manualClock.now();
  await storage.reports.report([
    {
      claim,
      progress: { percent: 42, message: 'Page 90 of 214', at: new Date(now) },
      lines: lines.map(([level, message, fields], index) => ({
        line: index + 1,
        at: new Date(now + 1_300 * index),
        level,
        message,
        fields: fields === null ? null : JSON.stringify(fields),
      })),
    },
  ]);
}
