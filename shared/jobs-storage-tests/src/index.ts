import { describe } from 'mocha';
import { auditingActions } from './audited-actions.js';
import { auditing } from './auditing.js';
import { batching } from './batching.js';
import { askingServers } from './server-requests.js';
import { restoringDependents } from './restoring-dependents.js';
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
import { deploying } from './deploying.js';
import { pausingTypes } from './pausing-types.js';
import { reading } from './reading.js';
import { keepingRecurring } from './recurring.js';
import { reporting } from './reporting.js';
import { rescuing } from './rescuing.js';
import { scheduling } from './scheduling.js';
import { timing } from './timing.js';
import { transitions } from './transitions.js';
import { searching } from './searching.js';
import { searchingTexts } from './searching-texts.js';
import { serving } from './serving.js';
import { settingAside } from './setting-aside.js';
import { synchronizing } from './synchronizing.js';
import { identifying } from './idempotency.js';
import { replacing } from './replacing.js';
import { uniqueness } from './uniqueness.js';
import { Fixture, type StorageUnderTest } from './storage-under-test.js';

export type { StorageUnderTest } from './storage-under-test.js';

/**
 * Defines the tests that every storage must pass, with mocha. Call it at the top of a test file.
 *
 * @param open opens an empty storage; called once, before the first test
 */
export function describeStorage(name: string, open: () => Promise<StorageUnderTest>): void {
  describe(`${name} as a job storage`, () => {
    const fixture = new Fixture(open);
    describe('enqueuing', () => enqueuing(fixture));
    describe('claiming', () => claiming(fixture));
    describe('holding claims', () => holding(fixture));
    describe('completing', () => completing(fixture));
    describe('telling what failed last', () => failing(fixture));
    describe('scheduling', () => scheduling(fixture));
    describe('keeping recurring jobs', () => keepingRecurring(fixture));
    describe('firing recurring jobs', () => firing(fixture));
    describe('synchronizing recurring jobs', () => synchronizing(fixture));
    describe('rescuing', () => rescuing(fixture));
    describe('controlling', () => controlling(fixture));
    describe('operating in bulk', () => operatingInBulk(fixture));
    describe('restoring dependents', () => restoringDependents(fixture));
    describe('keeping bulk operations', () => keepingBulkOperations(fixture));
    describe('editing', () => editing(fixture));
    describe('limiting queues', () => limiting(fixture));
    describe('deleting queues', () => deletingQueues(fixture));
    describe('sharing concurrency keys', () => keying(fixture));
    describe('holding unique keys', () => uniqueness(fixture));
    describe('replacing', () => replacing(fixture));
    describe('repeating requests', () => identifying(fixture));
    describe('what only some jobs carry', () => linking(fixture));
    describe('continuing', () => continuing(fixture));
    describe('following others', () => following(fixture));
    describe('batching', () => batching(fixture));
    describe('reading', () => reading(fixture));
    describe('a page of jobs', () => paging(fixture));
    describe('reading leases', () => leasing(fixture));
    describe('finding orphans', () => orphaning(fixture));
    describe('measuring', () => measuring(fixture));
    describe('timing', () => timing(fixture));
    describe('pausing job types', () => pausingTypes(fixture));
    describe('noting deployments', () => deploying(fixture));
    describe('filtering', () => filtering(fixture));
    describe('searching', () => searching(fixture));
    describe('feeding', () => feeding(fixture));
    describe('transitions of a job', () => transitions(fixture));
    describe('reporting', () => reporting(fixture));
    describe('auditing', () => auditing(fixture));
    describe('actions and their audit entries', () => auditingActions(fixture));
    describe('beside a model', () => modelling(fixture));
    describe('under a job server', () => serving(fixture));
    describe('asking servers', () => askingServers(fixture));
    describe('what is out of bounds', () => settingAside(fixture));
    describe('searching texts', () => searchingTexts(fixture));
  });
}
