import { eventually } from '@longshore/test-support';

/** Listens to server-sent events as a browser does. Resumes after the last event when the connection breaks. */
export interface Listener {
  /** Ids of the jobs whose events have been received. */
  readonly jobs: ReadonlySet<string>;
  isConnected(): boolean;
  /** Sets the URL for new connections. An open connection stays open. */
  moveTo(url: string): void;
  stop(): void;
}

export function listen(startUrl: string): Listener {
  const jobs = new Set<string>();
  const stopped = new AbortController();
  let url = startUrl;
  let lastEventId = '';
  let connected = false;

  const receive = (block: string): void => {
    for (const line of block.split('\n')) {
      if (line.startsWith('id: ')) lastEventId = line.slice(4);
      if (line.startsWith('data: ')) jobs.add((JSON.parse(line.slice(6)) as { jobId: string }).jobId);
    }
  };

  const listenOnce = async (): Promise<void> => {
    if (stopped.signal.aborted) return;
    const headers = { accept: 'text/event-stream', ...(lastEventId && { 'last-event-id': lastEventId }) };
    const response = await fetch(url, { headers, signal: stopped.signal });
    connected = response.ok;
    let text = '';
    try {
      for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        const blocks = (text + chunk).split('\n\n');
        text = blocks.pop() ?? '';
        for (const block of blocks) receive(block);
      }
    } finally {
      connected = false;
    }
  };

  // Connects again whenever the connection has broken, and until the server is up.
  void eventually(listenOnce, () => stopped.signal.aborted, { checks: Infinity, everyMs: 100 });

  return {
    jobs,
    isConnected: () => connected,
    moveTo: (next) => {
      url = next;
    },
    stop: () => stopped.abort(),
  };
}
