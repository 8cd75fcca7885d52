import { operations } from '@longshore/jobs/operations';
import { expect } from 'chai';
import { openSite, pagePaths, textOf } from './dashboard-site.js';

/** The word for each thing on pages and in messages, and words that would be a second one for it. */
const synonyms: Readonly<Record<string, RegExp>> = {
  warning: /\b(issues?|problems?|alarms?)\b/i,
  ready: /\b(queued|pending jobs?|runnable)\b/i,
  running: /\b(processing|in progress|being processed|executing|in flight)\b/i,
  undo: /\b(revert(ed)?|roll(ed)? back|take back)\b/i,
  'run now': /\b(start now|start it now|trigger(ed)?( now)?|enqueue now|execute)\b/i,
};

function secondWordsIn(text: string): string[] {
  return Object.entries(synonyms).flatMap(([word, others]) => {
    const found = others.exec(text);
    return found === null
      ? []
      : [`“${found[0]}” for “${word}” in “${text.slice(Math.max(0, found.index - 30), found.index + 30)}”`];
  });
}

describe('the words of the dashboard', () => {
  it('are one for each thing, on all pages', async () => {
    const site = await openSite({ control: ({ storage }) => storage });
    try {
      for (const path of pagePaths(site.story)) {
        const { text } = await site.http.get(`/job-dashboard${path}`);
        expect(secondWordsIn(textOf(text)), path).to.deep.equal([]);
      }
    } finally {
      await site.close();
    }
  });

  it('are one for each thing, in what actions say', () => {
    for (const { on, name, done } of operations)
      expect(secondWordsIn(done), `${on}/${name}`).to.deep.equal([]);
  });
});
