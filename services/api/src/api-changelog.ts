import type { ApiChange } from '@longshore/resources';

/** Changes to the HTTP API, newest first. Keep `docs/api-changelog.md` in sync. */
export const apiChangelog: readonly ApiChange[] = [{ date: '2026-11-22', text: 'Version 1 of the API.' }];
