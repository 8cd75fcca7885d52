import type { Statement } from '../connection/statement.js';

/**
 * Makes Citus commit the transaction either on all nodes or on none. Without it, Citus commits on one worker node and
 * then on the coordinator, and a crash in between loses what was written to the tables on the coordinator. The
 * statement works although it deletes no rows, because any change to a table that Citus manages on the coordinator
 * triggers two-phase commit. A transaction that writes on no other node has no additional cost.
 */
export const forceTwoPhaseCommit: Statement = { text: 'delete from longshore.two_phase_commit' };
