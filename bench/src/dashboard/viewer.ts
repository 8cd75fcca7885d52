import { setTimeout as pause } from 'node:timers/promises';

/** As the browser's: the live counters, and the lists. */
const regions = [
  { name: 'flow', everyMs: 2_000 },
  { name: 'throughput', everyMs: 5_000 },
  { name: 'queues', everyMs: 5_000 },
  { name: 'running', everyMs: 5_000 },
  { name: 'failures', everyMs: 5_000 },
] as const;

/** Looks at the overview for some seconds. Resolves to the number of its requests. */
export async function look(url: string, headers: Record<string, string>, seconds: number): Promise<number> {
  const endsAt = performance.now() + seconds * 1_000;
  const counts = await Promise.all(
    regions.map(async ({ name, everyMs }) => {
      let requests = 0;
      let etag = '';
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
