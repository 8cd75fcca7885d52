import { createApplication, networkOf, Throttle } from '@longshore/edge';
import { expect } from 'chai';

describe('A throttle', () => {
  it('allows a burst and then a number of attempts per second', () => {
    let now = 0;
    const throttle = new Throttle({ perSecond: 2, burst: 3 }, () => now);
    const allowed = (): boolean => throttle.take('me').isAllowed;
    expect([allowed(), allowed(), allowed(), allowed()]).to.deep.equal([true, true, true, false]);
    now = 1_000;
    expect([allowed(), allowed(), allowed()]).to.deep.equal([true, true, false]);
  });

  it('never saves up more than a burst', () => {
    let now = 0;
    const throttle = new Throttle({ perSecond: 10, burst: 2 }, () => now);
    throttle.take('me');
    now = 3_600_000;
    expect([1, 2, 3].filter(() => throttle.take('me').isAllowed)).to.have.lengthOf(2);
  });

  it('counts each client on its own', () => {
    const throttle = new Throttle({ perSecond: 1, burst: 1 }, () => 0);
    throttle.take('one');
    expect(throttle.take('other').isAllowed).to.equal(true);
  });

  it('reports what is left, when the burst is available again, and when to try again', () => {
    const throttle = new Throttle({ perSecond: 0.5, burst: 2 }, () => 0);
    expect(throttle.take('me')).to.deep.equal({ isAllowed: true, remaining: 1, waitMs: 0, fullMs: 2_000 });
    expect(throttle.take('me')).to.deep.equal({
      isAllowed: true,
      remaining: 0,
      waitMs: 2_000,
      fullMs: 4_000,
    });
    expect(throttle.take('me').isAllowed).to.equal(false);
    expect(throttle.waitMs('me')).to.equal(2_000);
  });

  it('does not count looking', () => {
    const throttle = new Throttle({ perSecond: 1, burst: 1 }, () => 0);
    expect([throttle.waitMs('me'), throttle.waitMs('me'), throttle.take('me').isAllowed]).to.deep.equal([
      0,
      0,
      true,
    ]);
  });

  it('forgets the client idle longest beyond ten thousand, and no other', () => {
    const throttle = new Throttle({ perSecond: 1, burst: 1 }, () => 0);
    const exceeds = (client: string): boolean => !throttle.take(client).isAllowed;
    for (let client = 0; client < 10_001; client += 1) exceeds(String(client));
    expect([exceeds('1'), exceeds('0')]).to.deep.equal([true, false]);
  });
});

describe('networkOf', () => {
  for (const [one, other, same] of [
    ['192.0.2.1', '192.0.2.2', false],
    ['192.0.2.1', '::ffff:192.0.2.1', true],
    ['2001:db8::1', '2001:db8::2', true],
    ['2001:db8::1', '2001:DB8:0:0:ffff::', true],
    ['2001:db8::1', '2001:0db8:0000:0000:1::', true],
    ['2001:db8::1', '2001:db8:0:1::1', false],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::', true],
    ['fe80::1%eth0', 'fe80::2%eth1', true],
    ['::1', '2001:db8::1', false],
    ['::ffff:192.0.2.1', '::ffff:192.0.2.2', false],
  ] as const)
    it(`is ${same ? 'the same' : 'another'} for ${one} and ${other}`, () =>
      expect(networkOf(one) === networkOf(other)).to.equal(same));
});

describe('createApplication', () => {
  class Application {
    readonly options: object;
    constructor(options: object) {
      this.options = options;
    }
  }

  it('trusts as many proxies as it is told', () => {
    expect(createApplication(Application, 0).options).to.deep.equal({ proxy: false, maxIpsCount: 0 });
    expect(createApplication(Application, 2).options).to.deep.equal({ proxy: true, maxIpsCount: 2 });
  });

  for (const count of [true, -1, 1.5, Number.NaN, 101, '1'])
    it(`rejects ${String(count)} proxies`, () =>
      expect(() => createApplication(Application, count as number)).to.throw(TypeError, 'number of proxies'));
});
