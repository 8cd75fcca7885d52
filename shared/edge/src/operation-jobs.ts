/**
 * The functions with which the operations of resources enqueue jobs. Empty here, because neither package knows the other:
 * `@longshore/jobs` declares the methods of its client, and `@longshore/resources` hands them to operations. Another job
 * system declares its own: `declare module '@longshore/edge' { interface OperationJobs { … } }`.
 */
export interface OperationJobs {}
