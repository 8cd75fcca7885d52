import { describe } from 'mocha';
import { auditing } from './auditing.js';
import { batching } from './batching.js';
import { askingServers } from './server-requests.js';
import { keepingBulkOperations } from './bulk-operations.js';
import { claiming } from './claiming.js';
import { completing } from './completing.js';
import { continuing } from './continuing.js';
import { controlling } from './controlling.js';
import { deletingQueues } from './deleting-queues.js';
import { editing } from './editing.js';
import { enqueuing } from './enqueuing.js';
import { feeding } from './feeding.js';
import { failing } from './failing.js';
import { filtering } from './filtering.js';
import { firing } from './firing.js';
import { following } from './following.js';
import { holding } from './holding.js';
import { keying } from './keying.js';
import { leasing } from './leasing.js';
import { limiting } from './limiting.js';
import { linking } from './job-meta.js';
import { measuring } from './measuring.js';
import { operatingInBulk } from './operating-in-bulk.js';
import { modelling } from './modelling.js';
import { orphaning } from './orphaning.js';
import { paging } from './paging.js';
import { reading } from './reading.js';
import { keepingRecurring } from './recurring.js';
import { reporting } from './reporting.js';
import { rescuing } from './rescuing.js';
import { scheduling } from './scheduling.js';
import { transitions } from './transitions.js';
import { searching } from './searching.js';
import { serving } from './serving.js';
import { settingAside } from './setting-aside.js';
import { synchronizing } from './synchronizing.js';
import { identifying } from './idempotency.js';
import { replacing } from './replacing.js';
import { uniqueness } from './uniqueness.js';
import { Bench, type StorageUnderTest } from './storage-under-test.js';

export type { StorageUnderTest } from './storage-under-test.js';

/**
 * Defines the tests that every storage must pass, with mocha. Call it at the top of a test file.
 *
 * @param open opens an empty storage; called once, before the first test
 */
export function describeStorage(name: string, open: () => Promise<StorageUnderTest>): void {
  describe(`${name} as a job storage`, () => {
    const bench = new Bench(open);
    describe('enqueuing', () => enqueuing(bench));
    describe('claiming', () => claiming(bench));
    describe('holding claims', () => holding(bench));
    describe('completing', () => completing(bench));
    describe('telling what failed last', () => failing(bench));
    describe('scheduling', () => scheduling(bench));
    describe('keeping recurring jobs', () => keepingRecurring(bench));
    describe('firing recurring jobs', () => firing(bench));
    describe('synchronizing recurring jobs', () => synchronizing(bench));
    describe('rescuing', () => rescuing(bench));
    describe('controlling', () => controlling(bench));
    describe('operating in bulk', () => operatingInBulk(bench));
    describe('keeping bulk operations', () => keepingBulkOperations(bench));
    describe('editing', () => editing(bench));
    describe('limiting queues', () => limiting(bench));
    describe('deleting queues', () => deletingQueues(bench));
    describe('sharing concurrency keys', () => keying(bench));
    describe('holding unique keys', () => uniqueness(bench));
    describe('replacing', () => replacing(bench));
    describe('repeating requests', () => identifying(bench));
    describe('what only some jobs carry', () => linking(bench));
    describe('continuing', () => continuing(bench));
    describe('following others', () => following(bench));
    describe('batching', () => batching(bench));
    describe('reading', () => reading(bench));
    describe('a page of jobs', () => paging(bench));
    describe('reading leases', () => leasing(bench));
    describe('finding orphans', () => orphaning(bench));
    describe('measuring', () => measuring(bench));
    describe('filtering', () => filtering(bench));
    describe('searching', () => searching(bench));
    describe('feeding', () => feeding(bench));
    describe('transitions of a job', () => transitions(bench));
    describe('reporting', () => reporting(bench));
    describe('auditing', () => auditing(bench));
    describe('beside a model', () => modelling(bench));
    describe('under a job server', () => serving(bench));
    describe('asking servers', () => askingServers(bench));
    describe('what is out of bounds', () => settingAside(bench));
  });
}
