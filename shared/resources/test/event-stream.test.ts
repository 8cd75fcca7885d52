import { ManualClock } from '@longshore/test-support';
import { expect } from 'chai';
import { EventStream } from '../src/pipeline/handlers/event-stream.js';
import type { ServerSentEvent } from '../src/definition/storage.js';

/**
 * Returns a stream that sends these events, then nothing until it is closed. `isLeft` returns whether it has been
 * closed.
 */
function silentAfter(events: readonly ServerSentEvent[]): {
  events: AsyncIterable<ServerSentEvent>;
  isLeft: () => boolean;
} {
  let isLeft = false;
  let leave = (): void => undefined;
  const left = new Promise<void>((resolve) => {
    leave = resolve;
  });
  const iterator: AsyncIterator<ServerSentEvent> = {
    next: async () => {
      const value = sent.shift();
      if (value !== undefined) return { value };
      await left;
      return { done: true, value: undefined };
    },
    return: async () => {
      isLeft = true;
      leave();
      return { done: true, value: undefined };
    },
  };
  const sent = [...events];
  return { events: { [Symbol.asyncIterator]: () => iterator }, isLeft: () => isLeft };
}

describe('An event stream', () => {
  it('writes an event as the HTML Standard says', async () => {
    const { events } = silentAfter([{ event: 'state', id: '7', data: { text: 'two\nlines' } }]);
    const body = new EventStream({ events });
    let received = '';
    for await (const chunk of body.setEncoding('utf8')) {
      received += String(chunk);
      if (received.includes('data')) break;
    }
    expect(received).to.equal('retry: 2000\n\nevent: state\nid: 7\ndata: {"text":"two\\nlines"}\n\n');
  });

  it('sends a heartbeat after 15 s of silence, with the position to resume from', () => {
    const clock = new ManualClock();
    const silent = new EventStream({ ...silentAfter([]), position: () => 'here' }, clock.now);
    silent.setEncoding('utf8').read();
    clock.advance(14_999);
    silent.sendHeartbeat();
    expect(silent.read()).to.equal(null);
    clock.advance(1);
    silent.sendHeartbeat();
    expect(silent.read()).to.equal(': heartbeat\nid: here\n\n');
    silent.destroy();
  });

  it('closes its source when the caller disconnects', () => {
    const source = silentAfter([]);
    new EventStream(source).destroy();
    expect(source.isLeft()).to.equal(true);
  });
});
