/** The fields of a job that tests read. */
export interface Job {
  readonly id: string;
  readonly state: string;
  readonly attempt: number;
  readonly result: unknown;
  readonly serverId: string | null;
}

export interface EnqueueResponse {
  readonly status: number;
  readonly type: string | null;
  readonly body: string;
  readonly location: string;
  /** Time from the request to the end of the response, in milliseconds. */
  readonly tookMs: number;
}

type Headers = Readonly<Record<string, string>>;

/** Enqueues a job with `POST /test`. */
export async function postTest(api: string, headers: Headers = {}): Promise<EnqueueResponse> {
  const startedAt = performance.now();
  const response = await fetch(`${api}/test`, { method: 'POST', headers });
  const body = await response.text();
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    body,
    location: response.headers.get('location') ?? '',
    tookMs: performance.now() - startedAt,
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
