/**
 * Mutations whose effect is outside the database, where no transaction includes it, such as at the payment provider.
 *
 * The key first keeps the id of the work. A repetition asks with the same id, by which the other side knows what it
 * did already. Then the answer takes the place of the id. A refusal had no effect, so it frees the key.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { runTogether } from '../db/pipeline.ts';
import type { Tx } from '../db/pool.ts';
import { inTransaction } from '../db/transaction.ts';
import {
  deleteKey,
  findKeptAnswer,
  type KeptAnswer,
  lockKey,
  replaceAnswer,
} from './idempotency-keys.sql.ts';
import { contextOf, type Mutation, type OnceDeps, once, openAnswer, sealAnswer } from './once.ts';

/** What an error of `ask()` says: it had no effect, another call with the id is under way, or nothing. */
export type Outcome = 'refused' | 'busy' | 'unknown';

export interface OutsideWork {
  /** Runs before new work, and not before a repetition. */
  readonly admit?: () => Promise<void>;
  /** Store the work, and return its id. */
  readonly begin: (tx: Tx) => Promise<string>;
  /** Ask for the effect, which the same id has once. Returns the answer. */
  readonly ask: (id: string) => Promise<string>;
  readonly outcomeOf: (error: unknown) => Outcome;
}

/** What a key keeps: the id of work that has begun, or the answer. */
type Step = { readonly id: string } | { readonly answer: string };

/** While another call is under way, it is waited for. All waits together take 7 s. */
const ATTEMPTS = 8;
const WAIT_MS = 250;

/** Do the work, or return what it returned the first time. */
export async function onceOutside(deps: OnceDeps, mutation: Mutation, work: OutsideWork): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    const step = (await findStep(deps, mutation)) ?? (await begin(deps, mutation, work));
    if ('answer' in step) return step.answer;
    try {
      return await keepStep(deps, mutation, step.id, await work.ask(step.id));
    } catch (error) {
      const outcome = work.outcomeOf(error);
      if (outcome === 'refused') await forgetStep(deps, mutation, step.id);
      if (outcome !== 'busy' || attempt === ATTEMPTS) throw error;
      await sleep(attempt * WAIT_MS);
    }
  }
}

async function begin(deps: OnceDeps, mutation: Mutation, work: OutsideWork): Promise<Step> {
  await work.admit?.();
  return parseStep(await once(deps, mutation, async (tx) => renderStep({ id: await work.begin(tx) })));
}

async function findStep(deps: OnceDeps, mutation: Mutation): Promise<Step | undefined> {
  const { key } = mutation;
  if (key === undefined) return undefined;
  return inTransaction(deps.db, async (tx) => {
    const kept = await lockKept(tx, { ...mutation, key });
    return kept && parseStep(openAnswer(deps, mutation, kept));
  });
}

async function keepStep(deps: OnceDeps, mutation: Mutation, id: string, answer: string): Promise<string> {
  const kept = sealAnswer(deps, mutation, renderStep({ answer }));
  await changeStep(deps, mutation, id, (tx, tenant, key) => replaceAnswer(tx, tenant, key, kept.answer));
  return answer;
}

async function forgetStep(deps: OnceDeps, mutation: Mutation, id: string): Promise<void> {
  await changeStep(deps, mutation, id, deleteKey);
}

/** Change what is kept, if it is still the id of this work. */
async function changeStep(
  deps: OnceDeps,
  mutation: Mutation,
  id: string,
  change: typeof deleteKey,
): Promise<void> {
  const { tenant, key } = mutation;
  if (key === undefined) return;
  await inTransaction(deps.db, async (tx) => {
    const kept = await lockKept(tx, { ...mutation, key });
    const step = kept && parseStep(deps.box.open(kept.answer, contextOf(mutation)));
    if (step && 'id' in step && step.id === id) await change(tx, tenant, key);
  });
}

async function lockKept(
  tx: Tx,
  { tenant, key }: Pick<Mutation, 'tenant'> & { readonly key: string },
): Promise<KeptAnswer | undefined> {
  const [, [kept]] = await runTogether(tx, [lockKey(tenant, key), findKeptAnswer(tenant, key)]);
  return kept;
}

function renderStep(step: Step): Buffer {
  return Buffer.from(JSON.stringify(step));
}

function parseStep(bytes: Uint8Array): Step {
  return JSON.parse(Buffer.from(bytes).toString()) as Step;
}
