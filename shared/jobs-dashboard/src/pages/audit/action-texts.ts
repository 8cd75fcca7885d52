import { actionOf, kinds, operations } from '@longshore/jobs/operations';
import { bulkActions } from '@longshore/jobs/storage';
import { bulkWords } from '../../actions/bulk-words.js';

type Words = readonly [done: string, thing: string];

/** Maps each action in the audit to its past tense and the kind of its target. */
export const actionTexts: Readonly<Record<string, Words>> = {
  ...Object.fromEntries(
    operations.map((operation): [string, Words] => [
      actionOf(operation),
      [capitalized(operation.done), kinds[operation.on].noun],
    ]),
  ),
  // The audit entry of a bulk action says only that the action was started. The action runs in the background and can
  // be stopped. Its page shows what it has changed.
  ...Object.fromEntries(
    bulkActions.map((action): [string, Words] => [
      `bulk/${action}`,
      [`Started ${bulkWords[action].doing.toLowerCase()}`, 'jobs'],
    ]),
  ),
};

/** Returns the past tense of an action, such as `Retried`. Returns unknown actions unchanged. */
export function actionDone(action: string): string {
  return actionTexts[action]?.[0] ?? action;
}

function capitalized(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}
