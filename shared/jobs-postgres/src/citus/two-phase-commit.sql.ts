import type { Statement } from '../connection/statement.js';

/**
 * Makes Citus commit the transaction on all nodes or on none. Without it, Citus commits on one worker node and then on the
 * coordinator, and a crash in between loses what was written in the coordinator's tables. The statement changes nothing: any
 * change of a table that Citus manages on the coordinator, even one that matches no row, makes Citus use two-phase commit. If the
 * transaction writes on no other node, this costs nothing more.
 */
export const writeTogether: Statement = { text: 'delete from longshore.two_phase_commit' };
