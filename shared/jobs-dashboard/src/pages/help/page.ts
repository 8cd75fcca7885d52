import { jobStates } from '@longshore/jobs/storage';
import type { Page } from '../../shell/page.js';

export async function helpPage(): Promise<Page> {
  return { title: 'Help', section: 'help', view: 'help', regions: [], data: { states: jobStates } };
}
