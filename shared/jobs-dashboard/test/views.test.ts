import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';

const root = new URL('../', import.meta.url);
const read = (folder: string): [string, string][] =>
  readdirSync(new URL(folder, root)).map((name) => [
    name,
    readFileSync(new URL(folder + name, root), 'utf8'),
  ]);

describe('the views', () => {
  it('print unescaped nothing but other views', () => {
    const unescaped = read('views/').flatMap(([name, view]) =>
      Array.from(view.matchAll(/<%-(?! it\.include\()/g), ({ index }) => `${name}:${index}`),
    );
    expect(unescaped).to.deep.equal([]);
  });

  it('have no inline script, style or event handler', () => {
    const inline = read('views/').flatMap(([name, view]) =>
      Array.from(
        view.matchAll(/<style|\sstyle=|<script(?![^>]*\ssrc=)|\son[a-z]+=|javascript:/gi),
        ([found]) => `${name}: ${found}`,
      ),
    );
    expect(inline).to.deep.equal([]);
  });

  it('quote every attribute that has a value printed into it', () => {
    const unquoted = read('views/').flatMap(([name, view]) =>
      Array.from(view.matchAll(/=<%/g), ({ index }) => `${name}:${index}`),
    );
    expect(unquoted).to.deep.equal([]);
  });
});

describe('the files', () => {
  const weight = (folder: string): Buffer =>
    Buffer.from(
      read(folder)
        .map(([, text]) => text)
        .join(''),
    );

  it('of style weigh at most 20 KB', () => {
    expect(weight('assets/styles/').length).to.be.at.most(20_000);
  });

  it('of script weigh at most 10 KB compressed', () => {
    expect(gzipSync(weight('assets/scripts/')).length).to.be.at.most(10_000);
  });

  it('fetch nothing from elsewhere', () => {
    for (const [name, text] of [...read('assets/styles/'), ...read('assets/scripts/')]) {
      expect(text, name).not.to.match(/https?:\/\/|@import|url\(/);
    }
  });
});
