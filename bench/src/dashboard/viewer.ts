import { setTimeout as pause } from 'node:timers/promises';

/** The regions of the overview, and how often the page's script refreshes each of them. */
const regions = [
  { name: 'flow', everyMs: 2_000 },
  { name: 'throughput', everyMs: 5_000 },
  { name: 'queues', everyMs: 5_000 },
  { name: 'running', everyMs: 5_000 },
  { name: 'failures', everyMs: 5_000 },
] as const;

type RegionName = (typeof regions)[number]['name'];

/** The entity tags of a loaded page's regions. */
export type Known = ReadonlyMap<RegionName, string>;

export async function openPage(url: string, headers: Record<string, string>): Promise<Known> {
  const known = new Map<RegionName, string>();
  await ask(
    { url, headers, known },
    regions.map(({ name }) => name),
  );
  return known;
}

/**
 * Refreshes the regions of a loaded overview for `seconds`, as the page's script does. Resolves to the number of
 * requests.
 */
export async function watchOverview(
  url: string,
  headers: Record<string, string>,
  seconds: number,
  loaded: Known,
): Promise<number> {
  const known = new Map(loaded);
  const endsAt = performance.now() + seconds * 1_000;
  const startsAt = performance.now() + Math.random() * 5_000;
  const dueAt = new Map(regions.map(({ name, everyMs }) => [name, startsAt + everyMs - 5_000]));
  let requests = 0;
  for (;;) {
    const next = Math.min(...dueAt.values());
    if (next >= endsAt) return requests;
    await pause(Math.max(0, next - performance.now()));
    const now = performance.now();
    const due = regions.filter(({ name, everyMs }) => (dueAt.get(name) ?? 0) - everyMs / 4 <= now);
    await ask(
      { url, headers, known },
      due.map(({ name }) => name),
    );
    requests += 1;
    for (const { name, everyMs } of due) dueAt.set(name, performance.now() + everyMs);
  }
}

interface Page {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly known: Map<RegionName, string>;
}

async function ask({ url, headers, known }: Page, names: readonly RegionName[]): Promise<void> {
  const etags = names.flatMap((name) => known.get(name) ?? []);
  const requested = { 'longshore-region': names.join(', '), 'if-none-match': etags.join(', ') };
  const response = await fetch(url, { headers: { ...headers, ...requested } });
  const text = await response.text();
  if (!response.ok && response.status !== 304) throw new Error(`GET ${url}: ${response.status}`);
  for (const name of names) {
    const [, etag] = new RegExp(`data-region="${name}"[^>]* data-etag="([^"]+)"`).exec(text) ?? [];
    if (etag !== undefined) known.set(name, etag.replaceAll('&#34;', '"'));
  }
}
