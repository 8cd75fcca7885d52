import { setTimeout as sleep } from 'node:timers/promises';
import { timeOfOne } from './database-faults.js';
import { diagnose } from './diagnosis.js';
import { databaseFaults, faults, processFaults } from './faults.js';
import type { Options } from './options.js';
import { mulberry32 } from './programs/src/random.js';
import { seconds } from './process-faults.js';
import { type Notes, pick, type Stage } from './stage.js';

/** One execution of a fault. */
export interface Occurrence {
  readonly fault: string;
  /**
   * Time from the start of the fault until it was undone, in milliseconds; NaN if causing or undoing the fault failed.
   */
  readonly lastedMs: number;
  /**
   * Time from the start of the fault to the end of the recovery, in milliseconds. The recovery ends when a new job and
   * all jobs that were ready or running at the start are finished. Meaningless if the recovery failed.
   */
  readonly recoveredMs: number;
}

export interface Storm {
  readonly occurrences: readonly Occurrence[];
  /** Descriptions of violated properties. */
  readonly breaches: readonly string[];
}

/** Maximum number of concurrent process faults. One database fault can be active at the same time. */
const processLanes = 3;

/**
 * Runs faults under load in several concurrent lanes: one for database faults, the others for process faults. The seed
 * determines each lane's choices. A lane runs all of its faults before it repeats one.
 */
export async function storm(stage: Stage, options: Options): Promise<Storm> {
  const { only, seed, faults: maxFaults, seconds: duration } = options;
  const chosen = (family: object): string[] =>
    Object.keys(family).filter((name) => only.length === 0 || only.includes(name));
  const lanes = [chosen(databaseFaults), ...split(chosen(processFaults), processLanes)].filter(
    ({ length }) => length > 0,
  );
  const occurrences: Occurrence[] = [];
  const breaches: string[] = [];
  const end = performance.now() + duration * 1_000;
  let begun = 0;
  const goesOn = (own: number, names: number): boolean => {
    if (maxFaults > 0) return begun < maxFaults;
    return own < names || performance.now() < end;
  };
  await Promise.all(
    lanes.map(async (names, lane) => {
      const random = mulberry32(seed * 31 + lane);
      // If faults repeat, every process lane runs all process faults. Otherwise, the lanes split the faults.
      const isRepeated = maxFaults > 0 || duration > 0;
      const isOfProcesses = names.every((name) => name in processFaults);
      const family = isRepeated && isOfProcesses ? chosen(processFaults) : names;
      let order: string[] = [];
      for (let own = 0; goesOn(own, names.length); own++) {
        begun += 1;
        if (order.length === 0) order = shuffled(family, random);
        await sleep(random() * 500);
        occurrences.push(await strike({ ...stage, random }, order.shift() ?? '', breaches));
      }
    }),
  );
  return { occurrences, breaches };
}

async function strike(stage: Stage, fault: string, breaches: string[]): Promise<Occurrence> {
  const { observer } = stage;
  const startedAt = performance.now();
  const elapsed = (): number => performance.now() - startedAt;
  let ids: readonly string[] = [];
  let lastedMs = NaN;
  let notes: Notes = {};
  try {
    const affected = await observer.read<{ id: string }>('select id from longshore.job where queue_id > 0');
    ids = affected.map(({ id }) => id);
    notes = (await faults[fault]?.(stage)) ?? {};
    lastedMs = elapsed();
    await stage.fleet.revive();
    await Promise.all([timeOfOne(stage), observer.untilDone(ids, { everyMs: 200 })]);
  } catch (error) {
    const breach = `no recovery from ${fault}: ${String(error)}\n${await diagnose(stage)}`;
    console.log(breach); // at once, in case the run does not end
    breaches.push(breach);
  }
  breaches.push(...(notes.breaches ?? []));
  const occurrence = { fault, lastedMs, recoveredMs: elapsed() };
  const times = `lasted ${seconds(lastedMs)}, ${ids.length} jobs affected, recovered after ${seconds(occurrence.recoveredMs)}`;
  console.log(`  ${fault.padEnd(20)} ${times}${notes.remark === undefined ? '' : ` (${notes.remark})`}`);
  return occurrence;
}

function split(names: readonly string[], parts: number): string[][] {
  return Array.from({ length: parts }, (_, part) => names.filter((__, index) => index % parts === part));
}

function shuffled(names: readonly string[], random: () => number): string[] {
  const rest = [...names];
  return names.flatMap(() => rest.splice(pick(random, rest.length), 1));
}
