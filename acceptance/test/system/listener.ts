/** Listens to server-sent events as a browser does. Resumes after the last event when the connection breaks. */
export interface Listener {
  /** Ids of the jobs whose events have been received. */
  readonly jobs: ReadonlySet<string>;
  isConnected(): boolean;
  /** Sets the URL for new connections. An open connection stays open. */
  moveTo(url: string): void;
  stop(): void;
}

const pauseMs = 100;

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

  const connect = async (): Promise<void> => {
    const headers = { accept: 'text/event-stream', ...(lastEventId && { 'last-event-id': lastEventId }) };
    const response = await fetch(url, { headers, signal: stopped.signal });
    connected = response.ok;
    let text = '';
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const blocks = (text + chunk).split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) receive(block);
    }
  };

  const listenOn = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      try {
        await connect();
      } catch {
        // The connection broke, or the server is down. The loop connects again.
      }
      connected = false;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  };
  void listenOn();

  return {
    jobs,
    isConnected: () => connected,
    moveTo: (next) => {
      url = next;
    },
    stop: () => stopped.abort(),
  };
}
