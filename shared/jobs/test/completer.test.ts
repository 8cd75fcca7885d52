import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import { StorageUnavailableError } from '../src/index.js';
import type { Claim, Completion, Completions } from '../src/storage.js';
import { Completer } from '../src/server/completer.js';
import { silentLogger } from '../src/server/logger.js';

/** Records the ids of completed jobs. Rejects completions while `away` is `true`. */
class OutcomeStore implements Completions {
  away = false;
  refused = 0;
  readonly taken: string[] = [];

  async complete(completions: readonly Completion[]): Promise<Claim[]> {
    if (this.away) {
      this.refused++;
      throw new StorageUnavailableError('away');
    }
    this.taken.push(...completions.map(({ claim }) => claim.jobId));
    return [];
  }

  async completeInTransaction(): Promise<void> {
    throw new TypeError('no transactions');
  }
}

const done = (jobId: string): Completion => ({
  claim: { jobId, queue: 'default', serverId: 'server', attempt: 1 },
  outcome: { kind: 'done', result: 'null' },
});

describe('The completer', () => {
  let storage: OutcomeStore;
  let completer: Completer;

  beforeEach(async () => {
    storage = new OutcomeStore();
    completer = new Completer(storage, { unwritten: new Set() }, silentLogger, () => undefined);
    storage.away = true;
    completer.add(done('first'));
    await eventually(
      () => storage.refused,
      (times) => times > 0,
    );
  });

  it('keeps an outcome until it is stored', async () => {
    storage.away = false;
    await completer.drained();
    expect(storage.taken).to.deep.equal(['first']);
  });

  it('writes new outcomes after dropping some that could not be written', async () => {
    completer.abandon();
    storage.away = false;
    completer.add(done('second'));
    await completer.drained();
    expect(storage.taken).to.deep.equal(['second']);
  });
});
