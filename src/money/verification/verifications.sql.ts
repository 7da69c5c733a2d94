/** SQL of `verifications`, which operators start at the console. */
import type { Db } from '../../base/db/pool.ts';
import type { ShownDifference, Verification } from './verification.ts';

/** A verification whose row was not moved for so long was abandoned. */
const QUIET_SECONDS = 30;

const COLUMNS = `id, operator, started_at as "startedAt", step, done, total, finished_at as "finishedAt", differences,
  shown, error`;

/** Returns false while another one goes on. */
export async function insertVerification(db: Db, id: string, operator: string): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'insert-verification',
    text: `insert into verifications (id, operator) values ($1, $2)
           on conflict do nothing`,
    values: [id, operator],
  });
  return rowCount === 1;
}

/** End the one whose process died. */
export async function endQuietVerification(db: Db): Promise<void> {
  await db.query({
    name: 'end-quiet-verification',
    text: `update verifications set finished_at = now(), error = 'its process ended'
            where finished_at is null and seen_at < now() - interval '${QUIET_SECONDS} seconds'`,
  });
}

/** Returns false if it was ended meanwhile. */
export async function updateVerificationStep(
  db: Db,
  id: string,
  { step, done, total }: Pick<Verification, 'step' | 'done' | 'total'>,
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'update-verification-step',
    text: `update verifications set seen_at = now(), step = $2, done = $3, total = $4
            where id = $1 and finished_at is null`,
    values: [id, step, done, total],
  });
  return rowCount === 1;
}

/** With the step that was the last, which a short verification never wrote before. */
export async function finishVerification(
  db: Db,
  id: string,
  result: Pick<Verification, 'done' | 'total'> &
    (
      | { readonly differences: number; readonly shown: readonly ShownDifference[] }
      | { readonly error: string }
    ),
): Promise<void> {
  const found = 'error' in result ? undefined : result;
  await db.query({
    name: 'finish-verification',
    text: `update verifications set finished_at = now(), seen_at = now(), differences = $2, shown = $3, error = $4,
                  done = $5, total = $6
            where id = $1 and finished_at is null`,
    values: [
      id,
      found?.differences ?? null,
      found ? JSON.stringify(found.shown) : null,
      'error' in result ? result.error : null,
      result.done,
      result.total,
    ],
  });
}

/** The newest first. */
export async function findVerifications(db: Db, limit: number): Promise<Verification[]> {
  const { rows } = await db.query<Verification>({
    name: 'list-verifications',
    text: `select ${COLUMNS} from verifications order by started_at desc, id limit $1`,
    values: [limit],
  });
  return rows;
}
