import { setTimeout as pause } from 'node:timers/promises';

/** As the browser's: the live counters, and the lists. */
const regions = [
  { name: 'flow', everyMs: 2_000 },
  { name: 'throughput', everyMs: 5_000 },
  { name: 'queues', everyMs: 5_000 },
  { name: 'running', everyMs: 5_000 },
  { name: 'failures', everyMs: 5_000 },
] as const;

/** What a page that has been loaded knows of its regions. */
export async function openPage(url: string, headers: Record<string, string>): Promise<Map<string, string>> {
  const etags = new Map<string, string>();
  for (const { name } of regions) {
    const response = await fetch(url, { headers: { ...headers, 'longshore-region': name } });
    await response.arrayBuffer();
    etags.set(name, response.headers.get('etag') ?? '');
  }
  return etags;
}

/** Looks on at the overview for some seconds, having loaded it. Resolves to the number of its requests. */
export async function look(
  url: string,
  headers: Record<string, string>,
  seconds: number,
  etags: ReadonlyMap<string, string>,
): Promise<number> {
  const endsAt = performance.now() + seconds * 1_000;
  const counts = await Promise.all(
    regions.map(async ({ name, everyMs }) => {
      let requests = 0;
      let etag = etags.get(name) ?? '';
      await pause(Math.random() * everyMs);
      while (performance.now() < endsAt) {
        const response = await fetch(url, {
          headers: { ...headers, 'longshore-region': name, 'if-none-match': etag },
        });
        await response.arrayBuffer();
        etag = response.headers.get('etag') ?? etag;
        requests += 1;
        await pause(Math.min(everyMs, Math.max(0, endsAt - performance.now())));
      }
      return requests;
    }),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}
