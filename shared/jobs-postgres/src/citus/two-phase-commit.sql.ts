import type { Statement } from '../connection/statement.js';

/**
 * Makes Citus commit the transaction on all nodes or on none. Without it, Citus commits on one worker node and then on
 * the coordinator, and a crash in between loses what was written to the coordinator's tables. The statement deletes no
 * rows: any change to a table that Citus manages on the coordinator makes Citus use two-phase commit, even if it
 * matches nothing. If the transaction writes on no other node, there is no additional cost.
 */
export const forceTwoPhaseCommit: Statement = { text: 'delete from longshore.two_phase_commit' };
