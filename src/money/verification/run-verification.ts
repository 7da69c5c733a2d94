/** A verification in the background, whose progress and result are a row, so that every page and process shows it. */
import type { Logger } from 'pino';
import type { Actor } from '../../base/audit/actor.ts';
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import type { Pool } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import { newId } from '../../base/lib/ids.ts';
import { renderTenantId } from '../../base/tenants/tenant.ts';
import { type Findings, findDifferences } from './find-differences.ts';
import type { Verification } from './verification.ts';
import {
  endQuietVerification,
  findVerifications,
  finishVerification,
  insertVerification,
  updateVerificationStep,
} from './verifications.sql.ts';

const STEP_MS = 1_000;
/** A page shows so many differences; the command line prints all. */
const DIFFERENCES_SHOWN = 100;

interface VerificationDeps {
  readonly db: Pool;
  readonly log: Logger;
}

export interface StartedVerification {
  /** Resolves when it is over. Never fails. */
  readonly ended: Promise<void>;
}

/**
 * Start one. `undefined`: another one goes on. When `stopping` is aborted, it ends early, and its row says so.
 */
export async function startVerification(
  deps: VerificationDeps,
  operator: Actor,
  stopping: AbortSignal,
): Promise<StartedVerification | undefined> {
  const { db } = deps;
  const id = newId('vf');
  await endQuietVerification(db);
  const isOurs = await inTransaction(db, async (tx) => {
    if (!(await insertVerification(tx, id, operator.id))) return false;
    const entry = { action: 'verification_started', subject: id, before: null, after: null };
    await appendAudit(tx, null, operator, entry);
    return true;
  });
  return isOurs ? { ended: run(deps, id, stopping) } : undefined;
}

/** The newest first. One whose process died has ended then. */
export async function listVerifications(db: Pool, limit: number): Promise<Verification[]> {
  await endQuietVerification(db);
  return findVerifications(db, limit);
}

async function run({ db, log }: VerificationDeps, id: string, stopping: AbortSignal): Promise<void> {
  let current = { step: 'counting', done: 0n, total: 0n };
  // A step that fails to be written is written a second later.
  const timer = setInterval(() => void updateVerificationStep(db, id, current).catch(() => {}), STEP_MS);
  try {
    const findings = await findDifferences(db, {
      at: (step, done, total) => {
        current = { step, done, total };
      },
      stopping,
    });
    await finishVerification(db, id, { ...current, ...shownOf(findings) });
  } catch (err) {
    log.warn({ err }, 'a verification did not end');
    const error = stopping.aborted ? 'its process was stopped' : 'it failed: see the log of the service';
    await finishVerification(db, id, { ...current, error }).catch(() => {});
  } finally {
    clearInterval(timer);
  }
}

function shownOf({ differences }: Findings) {
  return {
    differences: differences.length,
    shown: differences.slice(0, DIFFERENCES_SHOWN).map((each) => ({
      ...each,
      tenant: renderTenantId(each.tenant),
    })),
  };
}
