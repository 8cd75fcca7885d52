import type { JobHandler } from '@longshore/jobs';
import type { ApplicationServices } from '@longshore/service/application';
import { greetHandler } from './jobs/greet.js';
import { nightlyReportHandler } from './jobs/nightly-report.js';
import { packParcelsHandler } from './jobs/pack-parcels.js';
import { refundOrderHandler } from './jobs/refund-order.js';
import { sendReceiptHandler } from './jobs/send-receipt.js';

export function createHandlers({ database, directory }: ApplicationServices): readonly JobHandler[] {
  return [
    greetHandler,
    packParcelsHandler,
    refundOrderHandler,
    sendReceiptHandler(database, directory),
    nightlyReportHandler(database, directory),
  ];
}
