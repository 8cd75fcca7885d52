import type { Statement } from './statement.js';

/**
 * Makes Citus commit the transaction on all nodes or on none. Otherwise, Citus commits on a worker node first, and then
 * on the coordinator. A crash in between would lose the writes on the coordinator.
 *
 * The statement deletes no rows. It has an effect because any write to a table that Citus manages on the coordinator
 * triggers two-phase commit. A transaction that writes on no other node has no additional cost.
 */
export const forceTwoPhaseCommit: Statement = { text: 'delete from longshore.two_phase_commit' };
