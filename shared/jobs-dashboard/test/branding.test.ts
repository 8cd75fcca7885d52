import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { accentOf, contrastOf } from '../src/http/branding.js';
import { Assets } from '../src/http/assets.js';
import { openSite } from './dashboard-site.js';

describe('The accent colour', () => {
  const backgrounds = { light: ['#ffffff', '#f3f5f4'], dark: ['#17252d', '#0b1318'] };

  it('can be read in both schemes, whatever is configured', () => {
    for (const colour of ['#000', '#8a1c7c', '#00f', '#0a5a75', '#6b6b6b', '#b0231b']) {
      const { light, dark } = accentOf(colour, backgrounds);
      for (const background of backgrounds.light)
        expect(contrastOf(light, background), colour).to.be.at.least(4.5);
      for (const background of backgrounds.dark)
        expect(contrastOf(dark, background), colour).to.be.at.least(4.5);
    }
    expect(contrastOf('#fff', '#000')).to.be.closeTo(21, 0.01);
  });

  it('is refused if it is too light, or no colour', () => {
    expect(() => new Assets({ accent: '#ffcc00' })).to.throw(TypeError, 'a contrast of 1.3:1 with light');
    expect(() => new Assets({ accent: 'teal' })).to.throw(TypeError, 'Not a colour such as #8a1c7c: teal');
  });
});

describe('The logo', () => {
  it('is served from the same origin, and replaces the mark', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'longshore-logo-'));
    const logo = path.join(folder, 'own.svg');
    writeFileSync(logo, '<svg xmlns="http://www.w3.org/2000/svg"/>');
    const site = await openSite({ logo });
    try {
      const { text } = await site.http.get('/job-dashboard/help');
      const [, source = ''] = /<img class="mark" src="\.\/([^"]+)" alt="">/.exec(text) ?? [];
      const { headers, status } = await site.http.get(`/job-dashboard/${source}`);
      expect([status, headers['content-type']]).to.deep.equal([200, 'image/svg+xml']);
    } finally {
      await site.close();
      rmSync(folder, { recursive: true });
    }
  });

  it('must be an image', () => {
    expect(() => new Assets({ logo: '/etc/hostname' })).to.throw(TypeError, 'must be an SVG, PNG');
    expect(() => new Assets({ logo: '/none.svg' })).to.throw(TypeError, 'cannot be read');
  });
});
