import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { type Postgres, startPostgres } from '../test/system/postgres.js';
import { type Service, startService } from '../test/system/service.js';
import {
  compiled,
  type Finding,
  type Generator,
  generators,
  type IbmJudgement,
  ibmJudgement,
  installJudges,
  type Judge,
  redocly,
  scalarParser,
  spectral,
} from './judges.js';
import { type Waiver, waivers } from './waivers.js';

const judges = { redocly, scalarParser, spectral };

describe('The OpenAPI document, with credentials on', function () {
  this.timeout(600_000);
  const used = new Set<Waiver>();
  let postgres: Postgres;
  let api: Service;
  let directory: string;
  let file: string;
  /** Started before the other judges run, because it takes as long as all of them together. */
  let ibm: Promise<IbmJudgement>;

  before(async () => {
    await installJudges();
    directory = await mkdtemp(path.join(tmpdir(), 'longshore-openapi-'));
    file = path.join(directory, 'openapi.json');
    postgres = await startPostgres();
    api = await startService('api', {
      API_STORAGE: 'postgres',
      DATABASE_URL: postgres.url,
      // Avoids localhost and example.com, because Redocly rejects servers with these names.
      API_BASE_URL: 'https://api.longshore.dev',
      API_AUTH: 'keys',
      API_ADMIN_KEY: 'an-admin-key-that-only-the-judges-know',
    });
    const document = await (await fetch(`${api.url}/api/v1/openapi.json`)).json();
    await writeFile(file, JSON.stringify(document, null, 2));
    ibm = ibmJudgement(file);
    ibm.catch(() => undefined); // the test below reports the failure
  });
  after(async () => {
    await api.end('SIGKILL');
    await postgres.remove();
    await rm(directory, { recursive: true, force: true });
  });

  const findingsOf = async (judge: string, judgement: Judge): Promise<readonly string[]> =>
    unwaived(judge, await judgement(file));
  const unwaived = (judge: string, all: readonly Finding[]): readonly string[] => {
    const findings = all.filter((finding) => !isWaived(judge, finding));
    return findings.map(({ rule, message, at }) => `${rule} ${at}: ${message}`);
  };
  const objectionsTo = (name: string, generate: Generator): Promise<readonly string[]> =>
    compiled(generate, file, path.join(directory, name));

  for (const [judge, judgement] of Object.entries(judges)) {
    it(`has no finding of ${judge} without a waiver`, async () => {
      expect(await findingsOf(judge, judgement)).to.deep.equal([]);
    });
  }

  for (const [name, generate] of Object.entries(generators)) {
    it(`makes a client with ${name} that compiles in strict mode with TypeScript 5.9 and 7`, async () => {
      expect(await objectionsTo(name, generate)).to.deep.equal([]);
    });
  }

  it('has no finding of ibm without a waiver, and a score of at least 88 with all findings', async () => {
    const { findings, score } = await ibm;
    expect(unwaived('ibm', findings)).to.deep.equal([]);
    expect(score.overall).to.be.at.least(88);
  });

  it('needs all of its waivers', () => {
    expect(waivers.filter((waiver) => !used.has(waiver))).to.deep.equal([]);
  });

  function isWaived(judge: string, { rule, at }: Finding): boolean {
    const waiver = waivers.find(
      (one) => one.judge === judge && one.rule === rule && (one.at === undefined || one.at.test(at)),
    );
    if (waiver !== undefined) used.add(waiver);
    return waiver !== undefined;
  }
});
