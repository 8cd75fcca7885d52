import { during } from '@longshore/test-support';

/** The fields of a job that tests read. */
export interface Job {
  readonly id: string;
  readonly state: string;
  readonly attempt: number;
  readonly result: unknown;
  readonly serverId: string | null;
  readonly createdAt: string;
  readonly finishedAt: string | null;
}

export interface EnqueueResponse {
  readonly status: number;
  readonly type: string | null;
  readonly body: string;
  readonly location: string;
}

type Headers = Readonly<Record<string, string>>;

/** Enqueues a job with `POST /test`. */
export async function postTest(api: string, headers: Headers = {}): Promise<EnqueueResponse> {
  const response = await fetch(`${api}/test`, { method: 'POST', headers });
  const body = await response.text();
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    body,
    location: response.headers.get('location') ?? '',
  };
}

/** Enqueues a job without arguments, and resolves to its URL. */
export async function enqueue(api: string, name: string): Promise<string> {
  const response = await fetch(`${api}/api/v1/jobs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name, args: {} }),
  });
  if (response.status !== 201) throw new Error(`${response.status} ${await response.text()}`);
  const { id } = (await response.json()) as { id: string };
  return `${api}/api/v1/jobs/${id}`;
}

export async function getJson<T>(url: string, headers: Headers = {}): Promise<T> {
  const response = await fetch(url, { headers });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

export const getJob = (location: string, headers?: Headers): Promise<Job> => getJson<Job>(location, headers);

/**
 * Calls `ask`, which reads a job with `?wait`, until it returns the finished job. Usually, the first call does.
 *
 * @throws {Error} if a call returns an unfinished job earlier than it may: before `waitSeconds`
 */
export async function askUntilDone(ask: () => Promise<Job>, waitSeconds: number): Promise<void> {
  for (;;) {
    const { result, from, until } = await during(ask);
    if (result.state === 'done') return;
    const waitedSeconds = (until.getTime() - from.getTime()) / 1_000;
    // Allows a second for the rounding of times.
    if (waitedSeconds < waitSeconds - 1)
      throw new Error(`The job was ${result.state} when the call returned, after ${waitedSeconds} s`);
  }
}
