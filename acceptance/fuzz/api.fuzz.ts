import { expect } from 'chai';
import { type OpenApiDocument, operationsOf } from '@longshore/test-support';
import { Client } from './client.js';
import { Contract } from './contract.js';
import { Control } from './control.js';
import { crawl, crawled } from './crawl.js';
import { asked, askDashboard } from './dashboard-requests.js';
import { deckOf } from './deck.js';
import { Findings } from './findings.js';
import { Known } from './known.js';
import { readOptions } from './options.js';
import { adminKey, Stage } from './stage.js';
import { type FuzzContext, placeOf, storm } from './storm.js';
import { afterwards, survey } from './survey.js';
import { type JobDefinition, vocabularyOf } from './vocabulary.js';

const connections = 8;
const megabyte = 1_048_576;
/** Maximum memory of a process, in bytes. */
const maxMemory = 700 * megabyte;

const headers = { 'x-api-key': adminKey };
const options = readOptions();

// The services start first, because the tests are generated from the API's OpenAPI document.
const stage = await Stage.start();
const read = async <Value>(path: string): Promise<Value> =>
  (await (await fetch(stage.services.api.url + path, { headers })).json()) as Value;
const document = await read<OpenApiDocument>('/api/v1/openapi.json');
const definitions = await read<readonly JobDefinition[]>('/api/v1/job-definitions');
const servers = await read<readonly { id: string; pid: number }[]>('/api/v1/servers');
const operations = operationsOf(document);
const { api, worker, dashboard } = stage.services;
// Requests may stop servers. No request may use this worker's id, because a test requires that it keeps running.
const untouchable = servers.filter(({ pid }) => pid === worker.pid).map(({ id }) => id);

describe(`the HTTP API under any request (make test-fuzz SEED=${options.seed})`, function () {
  this.timeout(3_600_000);
  const findings = new Findings();
  const client = new Client(api.url, connections);
  const ground: FuzzContext = {
    client,
    contract: new Contract(document),
    known: new Known(operations, untouchable),
    findings,
    headers,
  };
  const control = new Control(api.url, headers);
  let jobs: readonly string[] = [];

  before(async () => {
    await control.runJob();
    const startedAt = performance.now();
    const deck = deckOf(vocabularyOf(document, definitions), operations, options);
    const plannedAt = performance.now();
    await storm(ground, deck, connections);
    console.log(
      `    ${client.sent} requests in ${seconds(plannedAt)} s, planned in ${seconds(startedAt, plannedAt)} s`,
    );
  });
  after(async () => {
    client.close();
    await stage.end();
  });

  it('receives the requested number of requests', () => {
    expect(client.sent).to.be.at.least(options.requests);
  });

  describe('responds as its document says to', () => {
    for (const operation of operations)
      it(placeOf({ operation }), () => findings.throwFor(placeOf({ operation })));
  });

  describe('still responds afterwards', () => {
    before(async () => {
      const startedAt = performance.now();
      jobs = await survey(ground, operations);
      console.log(`    every list and item in ${seconds(startedAt)} s`);
    });
    for (const operation of operations.filter(({ method }) => method === 'GET')) {
      it(placeOf({ operation }), () => findings.throwFor(afterwards({ operation })));
    }
    it('on every page of the dashboard', async () => {
      const startedAt = performance.now();
      const visitor = new Client(dashboard.url, 4);
      const pages = await crawl(visitor, findings, jobs);
      visitor.close();
      console.log(`    ${pages} pages in ${seconds(startedAt)} s`);
      findings.throwFor(crawled);
      expect(pages).to.be.above(jobs.length);
    });
    it('at any address of the dashboard', async () => {
      const visitor = new Client(dashboard.url, 4);
      const { seed, requests } = options;
      await askDashboard(visitor, findings, jobs, { seed, count: Math.ceil(requests / 10) });
      visitor.close();
      findings.throwFor(asked);
    });
    for (const path of ['/healthz', '/readyz', '/metrics', '/api/v1/openapi.json', '/api/v1/docs']) {
      it(`GET ${path}`, async () => {
        expect((await fetch(api.url + path, { headers })).status).to.equal(200);
      });
    }
  });

  describe('still runs', () => {
    before(() => control.clear());
    it('a job', async () => expect(await control.runJob()).to.equal(1));
    it('a batch and its callback', async () => expect(await control.runBatch()).to.equal(1));
    it('a continuation', async () => expect(await control.runContinuation()).to.equal(1));
    it('jobs with a concurrency key', async () => expect(await control.runKeyed()).to.deep.equal([1, 1, 1]));
  });

  for (const [name, service] of Object.entries(stage.services)) {
    it(`keeps the ${name} process running`, () => {
      expect(service.ending(), service.lines.slice(-20).join('\n')).to.equal(null);
    });
    it(`keeps the ${name} process below ${maxMemory / megabyte} MB`, () => {
      expect(stage.memory.get(service)).to.be.within(1, maxMemory);
    });
  }
});

function seconds(from: number, to = performance.now()): string {
  return ((to - from) / 1_000).toFixed(1);
}
