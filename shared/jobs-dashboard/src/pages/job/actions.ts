import type { BulkOperation, ControlResult } from '@longshore/jobs/storage';
import { conflict, notFound } from '../../http/problem.js';
import { calendarMomentOf } from '../../search/moment.js';
import { undoMs } from '../bulk-words.js';
import type { Actions, ActionResult, ActionRequest } from '../../actions/action.js';
import { invalidField, textField } from '../../actions/fields.js';

export const jobActions: Actions = {
  '/jobs/:target/cancel': {
    role: 'operator',
    flash: 'The job is cancelled. If it is running, its handler has been asked to stop.',
    perform: ({ control }, { target }, audit) =>
      control.cancel(target, { audit: audit(jobAfter('cancelled')) }),
  },
  '/jobs/:target/retry': {
    role: 'operator',
    flash: 'The job will run again.',
    perform: ({ control }, { target, form }, audit) =>
      control.retry(target, {
        dependents: form.get('dependents') === 'on',
        audit: audit(jobAfter('retried')),
      }),
  },
  '/jobs/:target/run-anyway': {
    role: 'operator',
    flash: 'The job will run, regardless of the jobs that it depends on.',
    perform: ({ control }, { target }, audit) =>
      control.retry(target, { ignoreDependencies: true, audit: audit(jobAfter('retried')) }),
  },
  '/jobs/:target/run': {
    role: 'operator',
    flash: 'The job is ready to run.',
    perform: ({ control }, { target }, audit) =>
      control.run(target, { audit: audit(jobAfter('made ready')) }),
  },
  '/jobs/:target/reschedule': {
    role: 'operator',
    flash: 'The job is rescheduled.',
    intent: (request) => ({ values: { at: newTime(request).toISOString() } }),
    perform: ({ control }, request, audit) => {
      const after = jobAfter('rescheduled');
      const withTime = (result: ControlResult): ActionResult => {
        const at = result.outcome === 'unknown' ? null : result.job.runAt;
        return { ...after(result), before: { at: at?.toISOString() ?? null } };
      };
      return control.reschedule(request.target, newTime(request), { audit: audit(withTime) });
    },
  },
  '/jobs/:target/delete': {
    role: 'admin',
    isReasoned: true,
    perform: ({ bulk }, { target, viewer }, audit) =>
      bulk.start(
        {
          action: 'delete',
          filter: { id: [target] },
          requestedBy: viewer.name.slice(0, 200),
          delayMs: undoMs,
        },
        { audit: audit(deletionAfter) },
      ),
  },
};

function deletionAfter({ id, matched }: BulkOperation): ActionResult {
  if (matched?.count === 0) {
    throw conflict(
      'This job cannot be deleted',
      'It has not finished, or it no longer exists. Nothing was changed.',
    );
  }
  return { next: `bulk/${id}` };
}

function newTime({ form, nowMs }: ActionRequest): Date {
  const at = calendarMomentOf(textField(form, 'at'));
  if (at === null) throw invalidField('The new time', 'a date and a time in UTC, such as 2026-03-01T14:05');
  // Rejects times in the past. An operator who mistakes UTC for local time would otherwise start the job at once.
  if (at.getTime() <= nowMs) {
    const now = new Date(nowMs).toISOString().slice(0, 16);
    throw invalidField(
      'The new time',
      `later than ${now}, the current time in UTC. To start the job at once, use “Run now”`,
    );
  }
  return at;
}

function jobAfter(done: string): (result: ControlResult) => ActionResult {
  return (result) => {
    if (result.outcome === 'unknown') {
      throw notFound(
        'There is no such job',
        'It may have been deleted, or removed after its retention time. Nothing was changed.',
      );
    }
    if (result.outcome === 'illegal') {
      throw conflict(`This job cannot be ${done}`, `It is ${result.job.state} now. Nothing was changed.`);
    }
    return { next: `jobs/${result.job.id}`, changed: result.changed };
  };
}
