import { type MeasuredRule, measureRules, readingsOf } from '../diagnosis/rules.js';
import type { Page, PageContext, PageRequest } from '../shell/page.js';

export async function rulesPage(_request: PageRequest, context: PageContext): Promise<Page> {
  return {
    title: 'Rules for warnings',
    section: 'incidents',
    view: 'page',
    kicker: { path: 'incidents', text: 'Incidents' },
    regions: [
      {
        name: 'rules',
        view: 'rules-list',
        everyMs: 5_000,
        load: async () => {
          const measured = await measureRules(context);
          return { rules: measured.map((each) => ruleRow(each, context.now())) };
        },
      },
    ],
  };
}

function ruleRow(measured: MeasuredRule, nowMs: number): object {
  const { about, name, application, tell, updatedAt } = measured.rule;
  const readings = readingsOf(measured, nowMs);
  const [word, key, list] =
    'jobName' in about ? ['Job type', about.jobName, 'types'] : ['Queue', about.queue, 'queues'];
  return {
    id: `${application} ${name}`,
    name,
    application,
    word,
    key,
    path: `${list}/${encodeURIComponent(key)}`,
    readings,
    badge: readings.some(({ isReached }) => isReached)
      ? { icon: 'alert', word: 'Warns', tone: 'failed' }
      : { icon: 'check', word: 'Calm', tone: 'done' },
    tell: tell === undefined || tell.length === 0 ? 'all webhooks' : tell.join(', '),
    updatedAt,
  };
}
