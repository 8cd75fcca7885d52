import type { Installation, Item } from './installation.js';

const final = new Set(['done', 'failed', 'cancelled']);

/**
 * Pause after the first read of the job. Each later pause is twice as long as the previous one, up to `maxIntervalMs`.
 */
const firstIntervalMs = 50;
const maxIntervalMs = 500;

const pageSize = 100;

/**
 * Reads a job, and passes its log lines and its progress to callbacks.
 *
 * @param untilFinished whether to read the job repeatedly until it has finished, instead of once
 * @param onLine called with each line of the log, from the beginning
 * @param onProgress called when the percentage (0 to 100) or its message has changed
 * @returns the job as it was last read
 */
export async function follow(
  installation: Installation,
  id: string,
  untilFinished: boolean,
  onLine: (line: Item) => void,
  onProgress: (percent: number, message: string | null) => void = () => undefined,
): Promise<Item> {
  let lines = 0;
  let shown = '';
  for (let intervalMs = firstIntervalMs; ; intervalMs = Math.min(2 * intervalMs, maxIntervalMs)) {
    // Reads the job before its log, so that the log of a finished job is complete.
    const job = await installation.call<Item>('GET', `jobs/${id}`);
    for (;;) {
      const page = await installation.call<Item[]>(
        'GET',
        `jobs/${id}/logs?limit=${pageSize}&offset=${lines}`,
      );
      for (const line of page) onLine(line);
      lines += page.length;
      if (page.length < pageSize) break;
    }
    const progress = job['progress'] as { percent: number; message: string | null } | null;
    if (progress !== null && JSON.stringify(progress) !== shown) {
      shown = JSON.stringify(progress);
      onProgress(progress.percent, progress.message);
    }
    if (!untilFinished || final.has(String(job['state']))) return job;
    await new Promise((resolve) => setTimeout(resolve, intervalMs));
  }
}
