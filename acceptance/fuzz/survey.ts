import type { Operation } from '@longshore/test-support';
import type { Binding } from './known.js';
import type { Plan } from './plan.js';
import { fillRequest } from './request.js';
import { type FuzzContext, placeOf } from './storm.js';

/** Each nested collection, such as the jobs of a queue, is read for this many parent items. */
const samples = 4;

/**
 * Reads the first page of every collection in each sort order, and every item of the top-level collections. Returns the
 * ids of all jobs.
 */
export async function survey(
  ground: FuzzContext,
  operations: readonly Operation[],
): Promise<readonly string[]> {
  const collections = operations.filter(({ parameters }) => parameters.some(({ name }) => name === 'limit'));
  const jobs = new Set<string>();
  await Promise.all(
    collections.map(async (collection) => {
      if (collection.template.includes('{')) return surveyBelow(ground, collection);
      const item = operations.find(
        ({ method, template }) =>
          method === 'GET' &&
          /^\{\w+\}$/.test(template.slice(collection.template.length + 1)) &&
          template.startsWith(`${collection.template}/`),
      );
      for (const found of await readAll(ground, collection)) {
        if (collection.template === '/jobs') jobs.add(Object.values(found)[0] ?? '');
        if (item !== undefined) await read(ground, planOf(item), found);
      }
      await readOrders(ground, collection, {});
    }),
  );
  return [...jobs];
}

async function surveyBelow(ground: FuzzContext, collection: Operation): Promise<void> {
  for (let item = 0; item < samples; item += 1) {
    const plan = {
      ...planOf(collection),
      item,
      path: { ...(collection.template.includes('{keyword}') && { keyword: 'greet' }) },
    };
    await read(ground, plan, {}, [200, 404]); // the parent item may have been deleted
  }
  await readOrders(ground, collection, {});
}

/** Reads the first page of a collection in each sort order. */
async function readOrders(ground: FuzzContext, collection: Operation, own: Binding): Promise<void> {
  const terms = collection.parameters.find(({ name }) => name === 'sort')?.schema.items?.enum ?? [];
  const path = { ...(collection.template.includes('{keyword}') && { keyword: 'a' }) };
  for (const term of terms) {
    const plan = {
      ...planOf(collection),
      path,
      query: [
        ['sort', String(term)],
        ['limit', '100'],
      ] as const,
    };
    await read(ground, plan, own, collection.template.includes('{') ? [200, 404] : [200]);
  }
}

/** Reads all pages of a collection by following their `next` links. Returns the path parameters of each item. */
async function readAll(ground: FuzzContext, collection: Operation): Promise<readonly Binding[]> {
  const all: Binding[] = [];
  let query: Plan['query'] = [['limit', '500']];
  for (;;) {
    const answer = await read(ground, { ...planOf(collection), query }, {});
    if (answer === undefined) return all;
    all.push(...answer.items);
    const next = /<[^>?]*\?([^>]*)>; rel="next"/.exec(answer.link)?.[1];
    if (next === undefined) return all;
    query = [...new URLSearchParams(next)];
  }
}

interface Page {
  readonly items: readonly Binding[];
  readonly link: string;
}

async function read(
  ground: FuzzContext,
  plan: Plan,
  own: Binding,
  allowed: readonly number[] = [200],
): Promise<Page | undefined> {
  const { client, contract, known, findings } = ground;
  const filled = fillRequest(plan, known, own);
  const request = { ...filled, headers: { ...ground.headers, ...filled.headers } };
  const place = afterwards(plan);
  try {
    const answer = await client.send(request);
    if (answer === null) return undefined;
    for (const breach of contract.check(plan.operation, request, answer))
      findings.add(place, breach, client.baseUrl, request);
    if (!allowed.includes(answer.status)) {
      findings.add(
        place,
        { fault: `answers ${answer.status}`, detail: answer.text.slice(0, 500) },
        client.baseUrl,
        request,
      );
      return undefined;
    }
    if (answer.status !== 200) return undefined;
    const json: unknown = JSON.parse(answer.text);
    const items = (Array.isArray(json) ? (json as readonly unknown[]) : []).flatMap((item) => {
      const found = known.note(plan.operation, request.place, request.binding, { headers: {}, json: item });
      return found === undefined ? [] : [found];
    });
    return { items, link: String(answer.headers['link'] ?? '') };
  } catch (error) {
    findings.add(place, { fault: 'no answer', detail: String(error) }, client.baseUrl, request);
    return undefined;
  }
}

/** Returns the key for the survey's findings about an operation. Keeps them apart from those of the main run. */
export function afterwards(plan: Pick<Plan, 'operation'>): string {
  return `afterwards ${placeOf(plan)}`;
}

function planOf(operation: Operation): Plan {
  return { operation, path: {}, item: 0, query: [], rawQuery: '', headers: {}, body: undefined };
}
