import path from 'node:path';
import { expect } from 'chai';
import { readSource, sourceFiles } from './house.js';

interface Rule {
  readonly title: string;
  /** Matches the paths of the files that the rule applies to. */
  readonly files: RegExp;
  /** Returns the violations in a file, given its path and text. */
  readonly breaches: (file: string, text: string) => readonly string[];
  /** A file that violates the rule, to check that the rule works. */
  readonly breach: readonly [file: string, text: string];
}

/** Files that may read the process's clock. All others use the storage's clock. */
const ownClocks = new Set([
  'shared/jobs/src/job/clock.ts', // the memory storage lives in the process, so this is the storage's clock
  'shared/jobs/src/recurring/schedule.ts', // schedules are previewed without a storage
  'shared/jobs/src/server/storage-outage.ts', // only for the log, while the storage cannot be asked
  'shared/jobs-postgres/src/connection/database-clock.ts', // used until the clock of the database has been read
  'shared/jobs-postgres/src/servers/heartbeat-sender.ts', // measures the error of the process's clock
  'services/api/src/access/key-ring.ts', // only a default; the service passes the storage's clock
  'services/api/src/access/memory-api-key-store.ts',
  'services/api/src/access/api-key.ts', // only for display
]);

const rules: readonly Rule[] = [
  {
    title: 'EJS puts unescaped text into a page only to include another template',
    files: /\.ejs$/,
    breaches: (_, text) => [...text.matchAll(/<%-(?!\s*(?:it\.)?include\().*/g)].map(([line]) => line),
    breach: ['page.ejs', "<%- it.include('head') %>\n<p><%- job.name %></p>"],
  },
  {
    title: 'no file is a drawer: a name says which noun is inside',
    files: /\.(ts|js|ejs|css)$/,
    breaches: (file) => file.match(/(^|[/-])(utils?|helpers?|common|misc)(?=[/.])/g) ?? [],
    breach: ['shared/jobs/src/string-utils.ts', ''],
  },
  {
    title: 'no rule is switched off in place',
    files: /\.[cm]?[jt]s$/,
    breaches: (_, text) => text.match(/(oxlint|eslint)-disable[\w-]*|c8 ignore|prettier-ignore/g) ?? [],
    breach: ['a.ts', ['// oxlint', 'disable-next-line'].join('-')],
  },
  {
    title: 'what is stored goes by the clock of the storage, not by that of the process',
    files: /^(shared\/(jobs|jobs-postgres|jobs-api|service)|services\/(api|worker|dashboard))\/src\//,
    breaches: (file, text) =>
      ownClocks.has(file)
        ? []
        : (text.match(/\bDate\.now\b(?!`)|\bnew Date\(\)|\bnow\(\): Date\.now/g) ?? []),
    breach: ['shared/jobs-postgres/src/history/retention.ts', 'const now = new Date();'],
  },
  {
    title: 'one factory creates all applications, so that each is told how many proxies to trust',
    files: /^(shared|services)\/[\w-]+\/src\/.*\.ts$/,
    breaches: (_, text) => text.match(/\bnew Koa\b|\.proxy = /g) ?? [],
    breach: ['shared/service/src/health.ts', 'const app = new Koa();'],
  },
  {
    title: 'a statement is sent as a whole, not its text, so that a cluster gets the form for clusters',
    files: /^shared\/jobs-postgres\/src\/.*\.ts$/,
    breaches: (_, text) => text.match(/\bquery(<[^(]*>)?\([\w.]+\.text\b/g) ?? [],
    breach: ['shared/jobs-postgres/src/read/feed.ts', 'await client.query(summarizeTimes.text, [names]);'],
  },
  {
    title: 'every acceptance lane checks what it fetches from an API against the document',
    files: /^acceptance\/package\.json$/,
    breaches: (_, text) =>
      (text.match(/mocha --no-config [^"]*/g) ?? []).filter((lane) => !lane.includes('documented-answers')),
    breach: ['acceptance/package.json', '"test:gateway": "mocha --no-config --spec test/gateway"'],
  },
];

describe('the source', () => {
  let files: string[];
  before(async () => {
    files = await sourceFiles();
  });

  for (const { title, files: pattern, breaches, breach } of rules) {
    it(title, async () => {
      const concerned = files.filter(
        (file) => pattern.test(file) && file !== 'acceptance/test/house/source-rules.test.ts',
      );
      const found = await Promise.all(
        concerned.map(async (file) =>
          breaches(file, await readSource(file)).map((text) => `${file}: ${text}`),
        ),
      );
      expect(found.flat()).to.deep.equal([]);
    });

    it(`(a breach is seen: ${path.basename(breach[0])})`, () => {
      expect(breaches(...breach)).to.have.length(1);
    });
  }
});
