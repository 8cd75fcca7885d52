import type { Outcome } from '@longshore/jobs/storage';

export const cardError = {
  name: 'CardDeclinedError',
  message: 'The bank said no: insufficient funds (card ending in 4242)',
  stack: [
    'CardDeclinedError: The bank said no: insufficient funds (card ending in 4242)',
    '    at charge (file:///app/billing/charge-card.js:42:11)',
    '    at async JobServer.run (file:///app/server/runner.js:88:5)',
  ].join('\n'),
};

const bankError = {
  name: 'TimeoutError',
  message: 'The bank did not answer within 1200 ms',
  stack: [
    'TimeoutError: The bank did not answer within 1200 ms',
    '    at ask (file:///app/billing/bank.js:17:9)',
    '    at async charge (file:///app/billing/charge-card.js:38:20)',
  ].join('\n'),
};

export const timeoutError = {
  name: 'TimeoutError',
  message: 'smtp.example.com did not answer within 10000 ms',
  stack: null,
};

/** The outcomes of three consecutive attempts to charge a card. */
export const cardEnds: readonly Outcome[] = [
  { kind: 'retry', error: bankError, delayMs: 45_000 },
  { kind: 'retry', error: cardError, delayMs: 90_000 },
  { kind: 'failed', error: cardError },
];
