import { nameInProse } from '../definition/naming.js';
import type { Resource } from '../definition/resource.js';
import { maxElements } from '../validation/large-body.js';

const most = maxElements.toLocaleString('en').replace(',', ' ');

/** Describes GET on a collection. */
export function ofList({ name }: Resource): string {
  return `Returns the ${name} that match all filters, a page at a time. \`Link\` has the URLs of the other pages.`;
}

/** Describes GET on `/search/{keyword}`. */
export function ofSearch({ name }: Resource): string {
  return `Returns the ${name} that the keyword finds, the same as with \`q\`, a page at a time.`;
}

/** Describes POST on a collection. */
export function ofCreate(resource: Resource, createsMany: boolean, findsExisting: boolean): string {
  const one = nameInProse(resource);
  return [
    createsMany
      ? `Creates one ${one} from an object, or several from an array of at most ${most}: all or none. An array is answered with an array in the same order.`
      : `Creates one ${one}.`,
    ...(findsExisting ? [`A body that identifies an existing ${one} gets that one, with 200.`] : []),
  ].join(' ');
}

/** Describes PUT on a collection. */
export function ofBulk({ name, bodies, key, partialBulk }: Resource): string {
  const fields = Object.keys(bodies.bulk.properties ?? {}).filter((field) => field !== key);
  const change = partialBulk ? `Changes ${fields.join(', ')}` : 'Replaces all writable fields';
  return `${change} of each listed item, all or none. Other ${name} stay as they are. The array has at most ${most} elements.`;
}

/** Describes DELETE on a collection. */
export function ofDeleteMany({ name }: Resource): string {
  return `Deletes the ${name} that match all filters. Without filters, it deletes all that can be deleted.`;
}

/** Describes GET on an item. */
export function ofGet(resource: Resource, waits: boolean): string {
  const waiting = waits ? ' With `wait`, the answer comes once it has finished.' : '';
  return `Returns the ${nameInProse(resource)} with this ${resource.key}.${waiting}`;
}

/** Describes PUT on an item. */
export function ofReplace(resource: Resource): string {
  return `Replaces all writable fields of the ${nameInProse(resource)}. Read-only fields may be left out, or sent back unchanged.`;
}

/** Describes PATCH on an item. */
export function ofPatch(resource: Resource): string {
  return `Changes the fields of the ${nameInProse(resource)} that the body names (JSON merge patch, RFC 7396); null removes an optional field.`;
}

/** Describes DELETE on an item. */
export function ofDelete(resource: Resource): string {
  return `Deletes the ${nameInProse(resource)} with this ${resource.key}.`;
}
