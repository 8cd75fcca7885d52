import { auditDetails, type Kind, kinds, operations } from '@longshore/jobs/operations';
import { type AuditEntry, type Deployment, isId } from '@longshore/jobs/storage';
import type { ReadingContext } from '../reading/dashboard-reader.js';

/** Something that people or deployments changed, and that can explain a warning. */
export interface Change {
  readonly at: Date;
  /** A clause, such as `ann paused queue “mail”`. */
  readonly text: string;
}

const MINUTE_MS = 60_000;

/** Changes of this long before a warning began can explain it, in milliseconds. */
const BEFORE_MS = 10 * MINUTE_MS;
/** A change shortly after the beginning can explain it, too, because some beginnings are known to the minute only. */
const AFTER_MS = MINUTE_MS;
/** Maximum number of changes to read, and to name for each warning; the latest. */
const MAX_READ = 200;
const MAX_NAMED = 3;

/** The kinds of things whose changes can cause a warning. */
const causing: ReadonlySet<string> = new Set<Kind>([
  'queues',
  'types',
  'recurring',
  'batches',
  'servers',
  'bulk',
]);

/** Reads the changes that can explain conditions that began since then, newest first. */
export async function readChanges(
  since: Date,
  { reader, now }: Pick<ReadingContext, 'reader' | 'now'>,
): Promise<Change[]> {
  const from = new Date(since.getTime() - BEFORE_MS);
  const [entries, deployments] = await Promise.all([
    reader.audit.list({ from, limit: MAX_READ }),
    // Rounded, so that viewers share the result.
    reader.deployments.list({ from, until: new Date(Math.ceil(now() / MINUTE_MS) * MINUTE_MS) }),
  ]);
  return [...entries.flatMap(changeOf), ...deployments.map(deploymentOf)].toSorted(
    (one, other) => other.at.getTime() - one.at.getTime(),
  );
}

/** Returns the latest changes just before a condition began, newest first. */
export function changesBefore(since: Date, changes: readonly Change[]): Change[] {
  const from = since.getTime() - BEFORE_MS;
  const until = since.getTime() + AFTER_MS;
  return changes.filter(({ at }) => at.getTime() >= from && at.getTime() <= until).slice(0, MAX_NAMED);
}

function deploymentOf({ version, at }: Deployment): Change {
  return { at, text: `version ${version} was deployed` };
}

function changeOf({ at, who, action, target, filter }: AuditEntry): Change[] {
  const [on = '', name = ''] = action.split('/');
  if (!causing.has(on) || auditDetails(filter).outcome !== 'done') return [];
  const operation = operations.find((each) => each.on === on && each.name === name);
  if (on === 'bulk' && name !== 'stop') return [{ at, text: `${who} started a bulk ${name}` }];
  if (operation === undefined) return [];
  const { noun } = kinds[operation.on];
  const which = target === null ? '' : isId(target) ? ` ${target.slice(-8)}` : ` “${target}”`;
  return [{ at, text: `${who} ${operation.done} ${noun}${which}` }];
}
