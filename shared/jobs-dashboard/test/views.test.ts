import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { httpClient, serve } from '@longshore/test-support';
import Koa from 'koa';
import { Assets } from '../src/http/assets.js';
import { listenerOf } from './dashboard-site.js';

const root = new URL('../', import.meta.url);
const read = (folder: string): [string, string][] =>
  readdirSync(new URL(folder, root)).map((name) => [
    name,
    readFileSync(new URL(folder + name, root), 'utf8'),
  ]);

/** Returns whether the code consists of a single call to `it.include`. */
function isInclusion(code: string): boolean {
  const call = code.trim().replaceAll(/'[^']*'|"[^"]*"/g, "''");
  if (!call.startsWith('it.include(')) return false;
  let depth = 0;
  for (let index = 0; index < call.length; index += 1) {
    if (call[index] === '(') depth += 1;
    if (call[index] === ')' && --depth === 0) return index === call.length - 1;
  }
  return false;
}

const views = readdirSync(new URL('src/', root), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ejs'))
  .map((name): [string, string] => [name, readFileSync(new URL(`src/${name}`, root), 'utf8')]);

describe('the views', () => {
  it('are found', () => {
    expect(views.length).to.be.within(20, 45);
  });

  it('print nothing unescaped but other views', () => {
    const unescaped = views.flatMap(([name, view]) =>
      Array.from(view.matchAll(/<%-(.*?)%>/gs))
        .filter(([, code = '']) => !isInclusion(code))
        .map(([tag]) => `${name}: ${tag}`),
    );
    expect(unescaped).to.deep.equal([]);
  });

  it('print in no way that this test misses', () => {
    for (const [name, view] of views) expect(view, name).not.to.match(/__\w|<%[-=_]?\s*-%>/);
  });

  for (const code of [
    "it.include('a') + it.text",
    "it.include('a'), it.text",
    "it.include('a') || (it.text)",
    "it.include('a', { b }); it.text",
    'it.text',
  ]) {
    it(`would not pass with <%- ${code} %>`, () => {
      expect(isInclusion(code)).to.equal(false);
    });
  }

  it('have no inline script, style or event handler', () => {
    const inline = views.flatMap(([name, view]) =>
      Array.from(
        view.matchAll(/<style|\sstyle=|<script(?![^>]*\ssrc=)|\son[a-z]+=|javascript:/gi),
        ([inline]) => `${name}: ${inline}`,
      ),
    );
    expect(inline).to.deep.equal([]);
  });

  it('quote every attribute that has a value printed into it', () => {
    const unquoted = views.flatMap(([name, view]) =>
      Array.from(view.matchAll(/=<%/g), ({ index }) => `${name}:${index}`),
    );
    expect(unquoted).to.deep.equal([]);
  });
});

describe('the files', () => {
  const weigh = async (name: string): Promise<{ plain: number; compressed: number }> => {
    const assets = new Assets();
    const app = new Koa();
    app.use((ctx) => void assets.serve(ctx, ctx.path));
    const server = await serve(listenerOf(app));
    try {
      const { text } = await httpClient(server.url).get(`/${assets.path(name)}`);
      return { plain: Buffer.byteLength(text), compressed: gzipSync(text).length };
    } finally {
      await server.close();
    }
  };

  it('of style are at most 20 KB', async () => {
    const { plain } = await weigh('dashboard.css');
    expect(plain).to.be.within(1_000, 20 * 1_024);
  });

  it('of script are at most 10 KB compressed', async () => {
    const scripts = read('assets/scripts/').map(([name]) => name);
    const weights = await Promise.all(scripts.map((name) => weigh(name)));
    expect(weights.reduce((sum, { compressed }) => sum + compressed, 0)).to.be.within(1_000, 10_000);
  });

  it('consist of sheets of at most 250 lines', () => {
    for (const [name, text] of read('assets/styles/'))
      expect(text.split('\n').length, name).to.be.at.most(251);
  });

  it('load nothing from other origins', () => {
    for (const [name, text] of [...read('assets/styles/'), ...read('assets/scripts/')]) {
      expect(text, name).not.to.match(/https?:\/\/|@import|url\(/);
    }
  });
});
