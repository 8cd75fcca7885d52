import type { JobDefinition } from '@longshore/jobs';
import { nightlyReport } from './jobs/nightly-report.js';
import { refundOrder } from './jobs/refund-order.js';
import { sendReceipt } from './jobs/send-receipt.js';

/** The jobs of the shop, which its resources enqueue by name. */
export const jobs: readonly JobDefinition[] = [refundOrder, sendReceipt, nightlyReport];
