/** Erase people from the next rows of one table. */
import { runTogether } from '../../base/db/pipeline.ts';
import type { Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { lockStream } from '../../events/append-events.sql.ts';
import { type Rewriting, rewriteEvents, rewriteUnnumberedEvents } from '../../events/rewrite-events.sql.ts';
import { lockAccount } from '../../money/accounts/accounts.sql.ts';
import { lockArchive } from '../../money/records/chunks/chunks.sql.ts';
import { eraseInNextChunk } from '../../money/records/chunks/erase-in-chunks.ts';
import { eraseInRecords, READ_IN_ORDER } from '../../money/records/erase-in-records.sql.ts';
import { eraseInConflicts } from '../../money/usage/conflicts.sql.ts';
import { rewriteBans } from '../bans/bans.sql.ts';
import { rewriteModerationEvents } from '../moderation/moderation-events.sql.ts';
import { eraseInSessions } from '../sessions/erase-in-sessions.sql.ts';
import { ERASURE_STEPS, type ErasureStep } from './erasure.ts';
import type { Claim, Erased } from './erasures.sql.ts';
import { type Act, forgetInAct, forgetInSubject, type Person, personNamed } from './person.ts';

export interface Part {
  /** Where the next part begins; `undefined`: everything is done. */
  readonly next: Pick<Claim, 'step' | 'position'> | undefined;
  /** One for each erasure. */
  readonly erased: readonly Erased[];
}

/** Works on the next rows after the claim's position. */
export async function erasePart(tx: Tx, claim: Claim): Promise<Part> {
  const people = claim.erasures.map(({ id, name }) => new Erasing(id, personNamed(name)));
  await runTogether(tx, [READ_IN_ORDER]);
  const last = await STEPS[claim.step](tx, claim, people);
  return { next: nextOf(claim, last), erased: people };
}

function nextOf({ step }: Claim, last: string | undefined): Part['next'] {
  if (last !== undefined) return { step, position: last };
  const following = ERASURE_STEPS[ERASURE_STEPS.indexOf(step) + 1];
  return following && { step: following, position: '' };
}

/** Counts what one person was erased from. */
class Erasing implements Erased {
  readonly id: string;
  readonly person: Person;
  records = 0;
  others = 0;

  constructor(id: string, person: Person) {
    this.id = id;
    this.person = person;
  }

  /** Apply `forget`, and count if it changed anything. */
  forget<T>(forget: (person: Person, value: T) => T, value: T): T {
    const forgotten = forget(this.person, value);
    if (forgotten !== value) this.others += 1;
    return forgotten;
  }
}

/** Erases from some rows. Returns the key of the last one; `undefined`: there are no more. */
type StepWork = (tx: Tx, claim: Claim, people: readonly Erasing[]) => Promise<string | undefined>;

const STEPS: Readonly<Record<ErasureStep, StepWork>> = {
  bans: (tx, { tenant, position }, people) => rewriteBans(tx, tenant, position, inActs(people)),
  moderation_events: async (tx, { tenant, position }, people) =>
    (await rewriteModerationEvents(tx, tenant, numberOf(position), inActs(people)))?.toString(),
  events: async (tx, { tenant, position }, people) => {
    const last = await rewriteEvents(tx, tenant, numberOf(position), inEvents(people));
    if (last === undefined) await finishEvents(tx, tenant, numberOf(position), inEvents(people));
    return last?.toString();
  },
  usage_records: async (tx, { tenant, position }, people) => {
    // No chunk is made meanwhile of records that still have the name.
    await lockArchive(tx, tenant);
    const { last, erased } = await eraseInRecords(tx, tenant, position, namesOf(people));
    for (const [name, count] of erased) bearerOf(name, people).records += count;
    return last;
  },
  record_chunks: async (tx, { tenant, position }, people) => {
    const { last, erased } = await eraseInNextChunk(tx, tenant, Number(position), namesOf(people));
    for (const [name, count] of erased) bearerOf(name, people).records += count;
    return last?.toString();
  },
  usage_conflicts: async (tx, { tenant, position }, people) => {
    await lockAccount(tx, tenant);
    const { last, erased } = await eraseInConflicts(tx, tenant, position, namesOf(people));
    for (const [name, count] of erased) bearerOf(name, people).others += count;
    return last;
  },
  // After the events, from which the listener opens sessions.
  sessions: async (tx, { tenant }, people) => {
    const { isMore, erased } = await eraseInSessions(tx, tenant, namesOf(people));
    for (const [name, count] of erased) bearerOf(name, people).others += count;
    return isMore ? 'more' : undefined;
  },
};

/**
 * While the stream is locked, no event gets a number. So each event is found: here, or because it got its number
 * before.
 */
async function finishEvents(tx: Tx, tenant: TenantId, after: bigint, rewriting: Rewriting): Promise<void> {
  await lockStream(tx, tenant);
  let reached: bigint | undefined = after;
  while (reached !== undefined) reached = await rewriteEvents(tx, tenant, reached, rewriting);
  await rewriteUnnumberedEvents(tx, tenant, rewriting);
}

function inActs(people: readonly Erasing[]) {
  return <A extends Act>(act: A): A => people.reduce((left, each) => each.forget<A>(forgetInAct, left), act);
}

function inEvents(people: readonly Erasing[]): Rewriting {
  return {
    // Their reasons may tell of the person in other words than the name.
    types: ['moderation'],
    texts: namesOf(people),
    rewrite: (subject) => people.reduce((left, each) => each.forget(forgetInSubject, left), subject),
  };
}

function namesOf(people: readonly Erasing[]): string[] {
  return people.flatMap(({ person }) => person.names);
}

function bearerOf(name: string, people: readonly Erasing[]): Erasing {
  return people.find(({ person }) => person.names.includes(name))!;
}

/** The number of an event; 0 at the beginning. */
function numberOf(position: string): bigint {
  return BigInt(position);
}
