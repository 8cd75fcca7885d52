import type { ResolvedServerOptions } from './server-options.js';

type CodeOption = 'logger' | 'queueSettings' | 'recurring' | 'storage';

/** Stores what an application defines in code: the settings of its queues, and its recurring jobs. Logs the changes. */
export async function applyCode(options: Pick<ResolvedServerOptions, CodeOption>): Promise<void> {
  await applyQueueSettings(options);
  await applyRecurringJobs(options);
}

/** Applies the settings of queues that the application defines in code. */
async function applyQueueSettings({
  logger,
  queueSettings,
  storage,
}: Pick<ResolvedServerOptions, CodeOption>): Promise<void> {
  if (queueSettings === null) return;
  const { application, queues } = queueSettings;
  const { changed, differing, refused } = await storage.queues.synchronize(application, queues);
  if (changed.length > 0)
    logger.info({ application, queues: changed }, 'settings of queues changed as in code');
  if (differing.length > 0)
    logger.info(
      { application, queues: differing },
      'operators have changed settings of queues that code defines; they stay until the code changes',
    );
  if (refused.length > 0)
    logger.warn(
      { application, refused },
      'the settings of these queues are defined by another application and were not changed',
    );
}

/** Adds, updates and removes the application's stored recurring jobs to match the given ones. */
async function applyRecurringJobs({
  logger,
  recurring,
  storage,
}: Pick<ResolvedServerOptions, CodeOption>): Promise<void> {
  if (recurring === null) return;
  const { application, jobs } = recurring;
  const { added, updated, removed, refused } = await storage.recurring.synchronize(application, jobs);
  if (added.length + updated.length + removed.length > 0)
    logger.info({ application, added, updated, removed }, 'recurring jobs synchronized');
  if (refused.length > 0)
    logger.warn(
      { application, refused },
      'recurring jobs with these ids have another owner and were not changed; use other ids',
    );
}
