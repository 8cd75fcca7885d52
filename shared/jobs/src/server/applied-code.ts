import type { ResolvedServerOptions } from './server-options.js';

type CodeOption = 'logger' | 'queueSettings' | 'recurring' | 'storage' | 'warningRules';

/**
 * Stores what an application defines in code: the settings of its queues, its recurring jobs, and its rules for
 * warnings. Logs the changes.
 */
export async function applyCode(options: Pick<ResolvedServerOptions, CodeOption>): Promise<void> {
  await applyQueueSettings(options);
  await applyRecurringJobs(options);
  await applyWarningRules(options);
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

/** Adds, updates and removes the application's stored rules for warnings to match the given ones. */
async function applyWarningRules({
  logger,
  storage,
  warningRules,
}: Pick<ResolvedServerOptions, CodeOption>): Promise<void> {
  if (warningRules === null) return;
  const { application, rules } = warningRules;
  const { changed, removed } = await storage.warningRules.synchronize(application, rules);
  if (changed.length + removed.length > 0)
    logger.info({ application, changed, removed }, 'rules for warnings changed as in code');
}
