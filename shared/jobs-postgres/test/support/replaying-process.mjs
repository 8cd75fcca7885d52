import { JobEvents } from '@longshore/jobs';
import { PostgresStorage } from 'longshore';

/**
 * Receives the ends of planted jobs that ended in the past, and reports how many different ones there were. Run as a
 * process of its own, with a small heap, and therefore from what was built, without a loader. Takes the URL of the database, the time to resume from, and the number of jobs;
 * the last twelve digits of their ids count them.
 */
const [, , url = '', since = '', count = '0'] = process.argv;
const storage = new PostgresStorage({ url });
const events = new JobEvents(storage);
const received = new Uint8Array(Number(count));
const leave = new AbortController();
let [different, times] = [0, 0];
for await (const { event } of events.listen({ state: ['done'] }, new Date(since), leave.signal)) {
  const place = Number.parseInt(event.jobId.slice(-12), 16);
  times++;
  if (received[place] === 0) different++;
  received[place] = 1;
  if (different === received.length) leave.abort();
}
await events.close();
await storage.close();
process.stdout.write(JSON.stringify({ different, times }));
