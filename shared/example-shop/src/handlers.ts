import type { JobHandler } from '@longshore/jobs';
import type { Queryable } from '@longshore/resources';
import { nightlyReportHandler } from './jobs/nightly-report.js';
import { refundOrderHandler } from './jobs/refund-order.js';
import { sendReceiptHandler } from './jobs/send-receipt.js';

/** What the shop's jobs work with. */
export interface ShopServices {
  readonly database: Queryable;
  /** Where receipts and reports go. */
  readonly directory: string;
}

/** The handlers of the shop's jobs. */
export function createHandlers({ database, directory }: ShopServices): readonly JobHandler[] {
  return [
    refundOrderHandler,
    sendReceiptHandler(database, directory),
    nightlyReportHandler(database, directory),
  ];
}
