import { expect } from 'chai';
import { drawCourse } from '../src/diagnosis/course.js';

const MINUTE_MS = 60_000;
const fromMs = Date.UTC(2026, 2, 1, 12);
const points = Array.from({ length: 60 }, (_each, index) => ({
  atMs: fromMs + index * MINUTE_MS,
  value: index < 30 ? 0.1 : index === 59 ? null : 0.5,
}));
const course = { word: 'Failed attempts', points, format: (share: number) => `${100 * share} %` };

describe('the course of a warning', () => {
  it('says its peak and its latest value', () => {
    expect(drawCourse(course, null)).to.include({ peak: '50 %', latest: '50 %' });
  });

  it('marks the beginning, unless that is over an hour ago', () => {
    const beganX = (minute: number) => drawCourse(course, new Date(fromMs + minute * MINUTE_MS)).beganX;
    expect([beganX(0), beganX(59), beganX(-1)]).to.deep.equal([0, 1_000, null]);
  });
});
