import { createCitusDatabase } from '@longshore/test-support';
import { describeSqlEntrance } from '../support/sql-entrance.js';

describeSqlEntrance('On Citus, longshore.enqueue()', createCitusDatabase, { distribution: 'citus' });
