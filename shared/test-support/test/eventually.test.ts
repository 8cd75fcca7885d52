import { eventually } from '@longshore/test-support';
import { expect } from 'chai';

describe('eventually', () => {
  it('returns the value of the condition once it holds', async () => {
    let looks = 0;
    const look = (): string | null => {
      looks += 1;
      return looks < 3 ? null : 'there';
    };
    expect(await eventually(look, { everyMs: 1 })).to.equal('there');
  });

  it('retries when the condition throws', async () => {
    let looks = 0;
    const look = async (): Promise<boolean> => {
      looks += 1;
      expect(looks).to.be.greaterThan(2);
      return true;
    };
    await eventually(look, { everyMs: 1 });
    expect(looks).to.equal(3);
  });

  it('returns what the predicate accepts, even if it is falsy', async () => {
    const seen = [2, 1, 0];
    expect(
      await eventually(
        () => seen.shift(),
        (value) => value === 0,
      ),
    ).to.equal(0);
  });

  it('goes on as long as it sees something new', async () => {
    let looks = 0;
    expect(
      await eventually(
        () => ++looks,
        (count) => count === 20,
        { checks: 2, everyMs: 0 },
      ),
    ).to.equal(20);
  });

  it('throws the condition’s last error when it gives up', async () => {
    const look = (): never => {
      throw new Error('not yet');
    };
    const error = await eventually(look, { checks: 3, everyMs: 1 }).catch((refusal: unknown) => refusal);
    expect(error).to.have.property('message', 'not yet');
  });

  it('reports what it saw last and what it waited for when the condition never held', async () => {
    const error = await eventually(
      () => ({ state: 'ready' }),
      ({ state }) => state === 'done',
      { checks: 3, everyMs: 1 },
    ).catch((refusal: unknown) => refusal);
    expect(error)
      .to.have.property('message')
      .that.matches(/in 3 checks.*state: 'ready'.*\n.*=>/);
  });
});
