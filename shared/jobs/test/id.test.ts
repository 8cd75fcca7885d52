import { expect } from 'chai';
import { firstIdOf, isId, newId } from '../src/index.js';

const made = Array.from({ length: 50_000 }, () => newId());

describe('An id', () => {
  it('is a UUID of version 7', () => {
    const uuid7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
    expect(made.filter((id) => !uuid7.test(id))).to.deep.equal([]);
    expect(made.every(isId)).to.equal(true);
  });

  it('sorts behind those that were made before it, also within a millisecond', () => {
    expect(made.every((id, index) => index === 0 || id > (made[index - 1] ?? ''))).to.equal(true);
  });

  it('carries the time of its making', () => {
    const before = new Date();
    const id = newId();
    expect(id >= firstIdOf(before)).to.equal(true);
    expect(id < firstIdOf(new Date(Date.now() + 1_000))).to.equal(true);
  });

  it('carries the time that it was asked for', () => {
    const ms = Date.UTC(2030, 0, 1);
    const id = newId(ms);
    expect(id >= firstIdOf(new Date(ms)) && id < firstIdOf(new Date(ms + 1))).to.equal(true);
    expect(newId() < id).to.equal(true);
  });

  it('has every variant digit about as often as the others', () => {
    const counts = new Map<string, number>();
    for (const id of made) counts.set(id[19] ?? '', (counts.get(id[19] ?? '') ?? 0) + 1);
    for (const digit of '89ab') expect(counts.get(digit)).to.be.within(0.2 * made.length, 0.3 * made.length);
  });
});
