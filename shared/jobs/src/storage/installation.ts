import type { ControlOptions } from './job-control.js';

/** A storage as a whole, with everything that servers and dashboards do for it. */
export interface InstallationState {
  /** The name of the schema of a Postgres storage; `longshore` for a memory storage. */
  readonly name: string;
  /** When it was paused as a copy of another installation; `null` if it is not paused. */
  readonly pausedAt: Date | null;
}

/**
 * Pauses and resumes an installation as a whole. While it is paused, servers claim no jobs and enqueue none for recurring
 * jobs, and no messages about incidents are sent. Everything else goes on: jobs can be enqueued, cancelled and edited.
 */
export interface Installation {
  read(): Promise<InstallationState>;
  /**
   * Pauses the installation if it is a copy, such as a restored backup, of the one that was last resumed, or if none was
   * ever resumed. Drops the messages about incidents that have not been delivered, and forgets the targets of messages.
   * Records the pause in the audit log. Has no effect if the installation is paused, or was resumed where it is now.
   */
  pauseCopy(): Promise<InstallationState>;
  /**
   * Resumes the installation. Servers begin to claim jobs within about a second. Resolves to the state before; to `null`
   * if the installation has another name.
   */
  resume(
    name: string,
    options?: ControlOptions<InstallationState, InstallationState | null>,
  ): Promise<InstallationState | null>;
}

/** The action that the audit log records when a copy is paused. */
export const pauseCopyAction = 'installations/pause';
