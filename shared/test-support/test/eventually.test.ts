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

  it('throws the condition’s last error after the deadline', async () => {
    const look = (): never => {
      throw new Error('not yet');
    };
    const error = await eventually(look, { deadlineMs: 5, everyMs: 1 }).catch((refusal: unknown) => refusal);
    expect(error).to.have.property('message', 'not yet');
  });

  it('reports what it waited for when the condition never held', async () => {
    const error = await eventually(() => false, { deadlineMs: 5, everyMs: 1 }).catch(
      (refusal: unknown) => refusal,
    );
    expect(error)
      .to.have.property('message')
      .that.matches(/5 ms.*false/);
  });
});
