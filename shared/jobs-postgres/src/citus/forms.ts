import { type Statement, staticStatements } from '../connection/statement.js';
import { claimForms } from './claims.sql.js';
import { completionForms } from './completions.sql.js';
import { enqueueForms } from './enqueue.sql.js';
import type { Forms } from './form.js';
import { housekeepingForms } from './housekeeping.sql.js';
import { keyForms } from './keys.sql.js';
import { maintenanceForms } from './maintenance.sql.js';
import { lookupForms } from './lookups.sql.js';
import { promotionForms } from './promotion.sql.js';
import { readForms } from './reads.sql.js';
import { searchForm } from './searches.js';
import { editForms } from './edits.sql.js';
import { rescueForms } from './rescue.sql.js';
import { scanForms } from './scans.sql.js';

/**
 * Citus forms by statement name. Statements that are built for a single request are changed by {@link searchForm}
 * instead. All other statements run unchanged.
 */
const forms: Forms = {
  ...claimForms,
  ...completionForms,
  ...enqueueForms,
  ...housekeepingForms,
  ...keyForms,
  ...lookupForms,
  ...maintenanceForms,
  ...editForms,
  ...promotionForms,
  ...readForms,
  ...rescueForms,
  ...scanForms,
};

let byText: ReadonlyMap<string, string> | undefined;

/** Returns the Citus form of a statement; the statement itself if there is no Citus form. */
export function citusForm(statement: Statement): Statement {
  byText ??= textsOf(forms);
  const text = byText.get(statement.text) ?? searchForm(statement);
  return text === statement.text ? statement : { ...statement, text };
}

/**
 * Maps single-node SQL to SQL for Citus. The keys are SQL, because an unprepared statement has no name.
 *
 * @throws {Error} if no statement has the name of a form
 */
function textsOf(others: Forms): ReadonlyMap<string, string> {
  const usual = staticStatements();
  return new Map(
    Object.entries(others).map(([name, form]) => {
      const replaced = usual.get(name);
      if (replaced === undefined) throw new Error(`There is no statement named ${name} to replace`);
      return [replaced, form(replaced)];
    }),
  );
}
