/**
 * A write of an agent takes two calls: a preview, and the same call again with the confirmation that the preview returned. So people
 * who watch an agent see what it is about to do, and one text that it reads makes no write at once.
 *
 * A confirmation is 256 random bits for one call with one key. It works once, within minutes, and counts against the writes of the key.
 */
import { hash, randomBytes } from 'node:crypto';
import type { Pool } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import { Failure, invalidField } from '../../base/failure.ts';
import { canonicalJson } from '../../base/lib/canonical-json.ts';
import type { Agent } from './agent-key.ts';
import { lockAgentKey } from './agent-keys.sql.ts';
import {
  countConfirmations,
  insertConfirmation,
  markConfirmationUsed,
  removeOldConfirmations,
} from './confirmations.sql.ts';

export const CONFIRMATION_SECONDS = 300;

/** Previews of one key that wait for their confirmation. */
export const CONFIRMATIONS_MAX = 20;

/** What is confirmed. The arguments have no fractions. */
export interface AgentWrite {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export interface Confirmation {
  readonly confirmation: string;
  readonly expiresAt: Date;
  /** How many writes the key has left, this one included. */
  readonly writesLeft: number;
}

/** Fails with `invalid_api_key` if the key has ended meanwhile, and with `quota_exceeded`. */
export async function openConfirmation(db: Pool, agent: Agent, write: AgentWrite): Promise<Confirmation> {
  return inTransaction(db, async (tx) => {
    const { used, open } = await lockWrites(tx, agent);
    if (open >= CONFIRMATIONS_MAX) {
      const message = `limit reached: at most ${CONFIRMATIONS_MAX} previews at once with one key for agents`;
      throw new Failure('quota_exceeded', { message });
    }
    const confirmation = randomBytes(32).toString('base64url');
    const expiresAt = await insertConfirmation(tx, agent, {
      ...hashesOf(write, confirmation),
      tool: write.tool,
      seconds: CONFIRMATION_SECONDS,
    });
    return { confirmation, expiresAt, writesLeft: agent.writesPerDay - used };
  });
}

/**
 * Use a confirmation up. It is used up even if the write is refused afterwards.
 *
 * Fails with `invalid_request` if it is not one of this call, of this key, or was used or has expired, and as `openConfirmation()` does.
 */
export async function useConfirmation(
  db: Pool,
  agent: Agent,
  write: AgentWrite,
  confirmation: string,
): Promise<void> {
  await inTransaction(db, async (tx) => {
    await lockWrites(tx, agent);
    const isUsed = await markConfirmationUsed(tx, agent, {
      ...hashesOf(write, confirmation),
      tool: write.tool,
    });
    if (!isUsed) {
      throw invalidField(
        'confirmation',
        'is not of this call, was used, or has expired: call without it for a new preview',
      );
    }
  });
}

/** Its writes take turns from now on. Fails with `quota_exceeded` if none is left. */
async function lockWrites(tx: Parameters<typeof lockAgentKey>[0], { tenant, keyId, writesPerDay }: Agent) {
  const key = await lockAgentKey(tx, tenant, keyId);
  if (!key?.isWorking) throw new Failure('invalid_api_key');
  await removeOldConfirmations(tx, tenant, keyId);
  const counts = await countConfirmations(tx, tenant, keyId);
  if (counts.used >= writesPerDay) {
    const message = `limit reached: at most ${writesPerDay} writes in 24 hours with this key for agents`;
    throw new Failure('quota_exceeded', { message });
  }
  return counts;
}

function hashesOf(write: AgentWrite, confirmation: string) {
  return {
    hash: hash('sha256', confirmation, 'buffer'),
    argumentsHash: hash('sha256', canonicalJson(write.arguments), 'buffer'),
  };
}
