/** SQL that sets how the statements of a charge are planned, and how long they wait. */
import type { Statement } from '../../base/db/pipeline.ts';

/** Older versions do not look for archived ids, and a trigger refuses their charges (`0060_record_chunks.sql`). */
const KNOWS_ARCHIVE = `set_config('boxoffice.knows_archive', 'on', true)`;

/**
 * For the rest of this transaction, no statement is planned so that it reads a whole table. Each is planned once
 * a connection (`base/db/pool.ts`), and a table that was small then may have a million rows a minute later.
 */
export const SEQSCAN_OFF: Statement = {
  name: 'seqscan-off',
  text: `select set_config('enable_seqscan', 'off', true), ${KNOWS_ARCHIVE}`,
};

/** The same for a transaction of several tenants, which no lock of one of them may hold up. */
export const SHARED_SETTINGS: Statement = {
  name: 'shared-settings',
  text: `select set_config('enable_seqscan', 'off', true), set_config('lock_timeout', '40', true), ${KNOWS_ARCHIVE}`,
};
