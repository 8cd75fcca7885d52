import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../test/system/eventually.js';
import { timeOfOne } from './database-faults.js';
import { diagnose } from './diagnosis.js';
import { faults } from './faults.js';
import type { Options } from './options.js';
import { seconds } from './process-faults.js';
import { type Notes, pick, type Stage } from './stage.js';

/** What one fault did. */
export interface Occurrence {
  readonly fault: string;
  /** Until the harm was undone. */
  readonly lastedMs: number;
  /** From the fault until every job that was ready or running when it came was done, and a new one too. */
  readonly recoveredMs: number;
}

export interface Storm {
  readonly occurrences: readonly Occurrence[];
  /** What must not be, in words. */
  readonly breaches: readonly string[];
}

/** How long jobs may take after a fault before the suite gives up. */
const patienceMs = 90_000;

/** Faults one after another, under load, in an order that the seed determines; each at least once. */
export async function storm(stage: Stage, { seconds: duration, only }: Options): Promise<Storm> {
  const names = only.length === 0 ? Object.keys(faults) : [...only];
  const occurrences: Occurrence[] = [];
  const breaches: string[] = [];
  const end = performance.now() + duration * 1_000;
  do {
    for (const fault of shuffled(names, stage.random)) {
      await sleep(stage.random() * 1_000);
      const occurrence = await strike(stage, fault, breaches);
      occurrences.push(occurrence);
      if (duration > 0 && performance.now() > end && occurrences.length >= names.length) break;
    }
  } while (performance.now() < end);
  return { occurrences, breaches };
}

async function strike(stage: Stage, fault: string, breaches: string[]): Promise<Occurrence> {
  const { observer } = stage;
  const affected = await eventually(() =>
    observer.query<{ id: string }>('select id from longshore.job where queue_id > 0'),
  );
  const startedAt = performance.now();
  const elapsed = (): number => performance.now() - startedAt;
  const ids = affected.map(({ id }) => id);
  let lastedMs = NaN;
  let notes: Notes = {};
  try {
    notes = (await faults[fault]?.(stage)) ?? {};
    lastedMs = elapsed();
    await stage.fleet.revive();
    await Promise.all([
      timeOfOne(stage),
      eventually(async () => (await observer.unfinished(ids)).length === 0, patienceMs),
    ]);
  } catch (error) {
    breaches.push(`no recovery from ${fault}: ${String(error)}\n${await diagnose(stage)}`);
  }
  breaches.push(...(notes.breaches ?? []));
  const occurrence = { fault, lastedMs, recoveredMs: elapsed() };
  const times = `lasted ${seconds(lastedMs)}, ${ids.length} jobs affected, recovered after ${seconds(occurrence.recoveredMs)}`;
  console.log(`  ${fault.padEnd(18)} ${times}${notes.remark === undefined ? '' : ` (${notes.remark})`}`);
  return occurrence;
}

/** Fisher and Yates. */
function shuffled(names: readonly string[], random: () => number): string[] {
  const rest = [...names];
  return names.flatMap(() => rest.splice(pick(random, rest.length), 1));
}
