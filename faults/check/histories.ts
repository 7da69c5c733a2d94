/**
 * Histories for Porcupine: what clients asked of one object and what they were answered, from the journal.
 *
 * An operation without an answer has no end, so the search may put it after all others, where it changes nothing. Reads and
 * refusals that tell nothing of the object are left out: without them, a history is linearizable if it was with them.
 */
import type { Facts } from './facts.ts';
import { type FaultTime, faultTimes, lasts } from './faults.ts';
import { type Entry, endOf, microsOf, roomIn } from './journal.ts';
import { acceptsKey, refusesKey } from './keys.ts';
import { momentsOf } from './moments.ts';
import { withoutRepetitions } from './repetitions.ts';

/** The models of `faults/porcupine`. */
export type Model = 'keys' | 'rooms' | 'balances' | 'budgets';

/** What it means depends on the model: see `faults/porcupine/models`. */
export interface HistoryOp {
  readonly op: string;
  readonly outcome: 'ok' | 'refused' | 'unknown';
  /** Micros. */
  readonly amount?: number;
  readonly uid?: string;
  readonly client: number;
  readonly callUs: number;
  /** `null`: there is no end. */
  readonly returnUs: number | null;
}

export interface History {
  readonly object: string;
  readonly ops: readonly HistoryOp[];
}

/** A search takes longer with each operation that runs beside others. The first ones are enough, in all of so many objects. */
const OPS_MAX = 2_000;

function opOf(
  { client, invokedUs, returnedUs, outcome }: Entry,
  rest: Pick<HistoryOp, 'op' | 'amount' | 'uid'>,
): HistoryOp {
  return { ...rest, outcome, client, callUs: invokedUs, returnUs: outcome === 'unknown' ? null : returnedUs };
}

/** Operations up to a time. What had not ended then may have taken effect before it, and what is cut off may depend on that. */
function cutAt(ops: readonly HistoryOp[], cutUs: number): readonly HistoryOp[] {
  return ops.flatMap((op) => {
    if (op.callUs >= cutUs) return [];
    if (op.returnUs !== null && op.returnUs < cutUs) return [op];
    const changes = CHANGES.has(op.op) && op.outcome !== 'refused';
    return changes ? [{ ...op, outcome: 'unknown', returnUs: null }] : [];
  });
}

function firstOf(ops: readonly HistoryOp[]): readonly HistoryOp[] {
  const inOrder = ops.toSorted((a, b) => a.callUs - b.callUs);
  return inOrder.length <= OPS_MAX ? inOrder : cutAt(inOrder, inOrder[OPS_MAX]!.callUs);
}

/** Uses of a key before and after its changes. Those long before and long after show nothing that another rule does not see. */
const NEAR_US = 2_000_000;

function nearChanges(
  ops: readonly (readonly [string, HistoryOp])[],
): readonly (readonly [string, HistoryOp])[] {
  const changes = Map.groupBy(
    ops.filter(([, { op }]) => CHANGES.has(op)),
    ([object]) => object,
  );
  const isNear = (a: HistoryOp, b: HistoryOp) =>
    a.callUs <= (b.returnUs ?? b.callUs) + NEAR_US && b.callUs <= (a.returnUs ?? a.callUs) + NEAR_US;
  return ops.filter(
    ([object, op]) => CHANGES.has(op.op) || changes.get(object)?.some(([, change]) => isNear(op, change)),
  );
}

/** Operations that change their object. */
const CHANGES = new Set(['create', 'rotate', 'retire', 'revoke', 'end', 'join', 'add', 'hold']);

function historiesOf(ops: readonly (readonly [string, HistoryOp])[]): readonly History[] {
  return [...Map.groupBy(ops, ([object]) => object)].map(([object, own]) => ({
    object,
    ops: firstOf(own.map(([, op]) => op)),
  }));
}

/** Keys that were made, replaced or revoked, and every request with one of them. */
export function keyHistories(facts: Facts): readonly History[] {
  const ops: (readonly [string, HistoryOp])[] = [];
  const faults = faultTimes(facts);
  for (const entry of withoutRepetitions(facts.of('key.create', 'key.rotate'))) {
    const id = entry.answer?.key?.id;
    if (id !== undefined) ops.push([id, opOf(entry, { op: 'create' })]);
  }
  for (const entry of withoutRepetitions(facts.of('key.rotate', 'key.revoke'))) {
    if (entry.outcome === 'refused') continue;
    ops.push([entry.args.id!, opOf(entry, { op: endingOf(faults, entry) })]);
  }
  const made = new Set(ops.filter(([, { op }]) => op === 'create').map(([id]) => id));
  for (const entry of [...facts.journal.entries, ...facts.journal.reports.map(({ entry }) => entry)]) {
    const { key } = entry.args;
    if (key === undefined || !made.has(key)) continue;
    // By whatever interface: what is refused for another reason is a use of a key that works.
    if (acceptsKey(entry)) ops.push([key, { ...opOf(entry, { op: 'use' }), outcome: 'ok' }]);
    else if (refusesKey(entry)) ops.push([key, opOf(entry, { op: 'use' })]);
  }
  // Without its beginning, a history says nothing.
  return historiesOf(nearChanges(ops.filter(([id]) => made.has(id))));
}

/** A key that is replaced at once works again where the clock of the database is put back, and until it is set right where it was ahead. */
function endingOf(faults: readonly FaultTime[], entry: Entry): string {
  if (entry.op === 'key.revoke') return 'revoke';
  const [beginsUs, endsUs] = [entry.invokedUs, endOf(entry)];
  const isExact = lasts(faults, [beginsUs, endsUs], [beginsUs, endsUs + 2 * NEAR_US]) === 0;
  return entry.args.overlap_seconds === 0 && isExact ? 'retire' : 'rotate';
}

/** The room is not live, or is live already. */
const NOT_SO = new Set<unknown>([404, 409, 'NOT_FOUND', 'ALREADY_EXISTS', 'FAILED_PRECONDITION', 5, 6, 9]);

/** Names of rooms. What a watchdog ended is known from the log of events. */
export async function roomHistories(facts: Facts): Promise<readonly History[]> {
  const entries = withoutRepetitions(facts.of('room.create', 'room.end', 'room.get', 'join', 'mint'));
  const nameOf = ({ args }: Entry) => `${args.tenant} ${args.room}`;
  const firstSeen = new Map<string, number>();
  for (const entry of entries.filter(({ outcome }) => outcome === 'ok'))
    firstSeen.set(
      nameOf(entry),
      Math.min(firstSeen.get(nameOf(entry)) ?? Number.POSITIVE_INFINITY, endOf(entry)),
    );
  const ops = entries.flatMap((entry): (readonly [string, HistoryOp])[] => {
    const isAdmission = entry.op === 'join' || entry.op === 'mint';
    if (entry.outcome === 'refused' && (isAdmission || !NOT_SO.has(entry.status))) return [];
    if (entry.op === 'room.get' && entry.outcome !== 'ok') return [];
    // Only the first join can make a room, of which nothing else may be known.
    const seenUs = firstSeen.get(nameOf(entry)) ?? Number.POSITIVE_INFINITY;
    const mayMake = entry.op === 'join' && entry.invokedUs <= seenUs;
    if (entry.outcome === 'unknown' && isAdmission && !mayMake) return [];
    const uid = isAdmission ? entry.answer?.claims?.rid : roomIn(entry).uid;
    return [[nameOf(entry), opOf(entry, { op: roomOpOf(entry), ...(uid !== undefined && { uid }) })]];
  });
  return historiesOf([...ops, ...(await endsByWatchdogs(facts))]);
}

/** They happened, at any time. */
async function endsByWatchdogs(facts: Facts): Promise<readonly (readonly [string, HistoryOp])[]> {
  return [...(await facts.logs).values()]
    .flat()
    .filter(({ type, subject }) => type === 'room_ended' && subject.endReason === 'watchdog')
    .map(({ tenant, subject, roomUid }) => [
      `${tenant} ${subject.name}`,
      { op: 'end', outcome: 'ok', uid: roomUid!, client: -1, callUs: 0, returnUs: null },
    ]);
}

function roomOpOf(entry: Entry): string {
  if (entry.op === 'room.create') return 'create';
  if (entry.op === 'room.end') return 'end';
  if (entry.op === 'room.get') return roomIn(entry).state?.endsWith('ENDED') ? 'see-ended' : 'see-live';
  return entry.op;
}

/** Balances: each posting takes effect at a time that clients know roughly, and reads see it from then on. */
export async function balanceHistories(facts: Facts): Promise<readonly History[]> {
  const reports = Map.groupBy(facts.journal.reports, ({ tenant }) => tenant);
  const ops: (readonly [string, HistoryOp])[] = [];
  for await (const ledger of facts.ledgers()) {
    const { tenant } = ledger;
    for (const { posting, fromUs, untilUs } of momentsOf(ledger, reports.get(tenant) ?? [])) {
      if (posting.amount === 0n) continue;
      const isOpen = untilUs === Number.POSITIVE_INFINITY;
      const op = { op: 'add', outcome: isOpen ? 'unknown' : 'ok', amount: Number(posting.amount) } as const;
      // A charge that was told before it was sent is a problem of another rule.
      const callUs = Math.min(fromUs, untilUs);
      ops.push([tenant, { ...op, client: -1, callUs, returnUs: isOpen ? null : untilUs }]);
    }
    for (const entry of facts.of('billing.read')) {
      const balance = microsOf(entry.answer?.balance);
      if (entry.args.tenant !== tenant || entry.outcome !== 'ok' || balance === undefined) continue;
      ops.push([tenant, opOf(entry, { op: 'read', amount: Number(balance) })]);
    }
  }
  return historiesOf(ops);
}

/** Budgets of which no usage is reported: their names begin so. What is held of them only grows, until the first hold ends. */
const STILL = 'still-';
/** Tokens last for longer. */
const HELD_US = 9 * 60_000_000;

export function budgetHistories(facts: Facts): readonly History[] {
  const ops: (readonly [string, HistoryOp])[] = [];
  const nameOf = (tenant: string | undefined, name: string) => `${tenant} ${name}`;
  for (const entry of withoutRepetitions(facts.of('budget.set'))) {
    const { tenant, id = '', limit_micros = 0 } = entry.args;
    if (id.startsWith(STILL) && entry.outcome !== 'refused')
      ops.push([nameOf(tenant, id), opOf(entry, { op: 'create', amount: limit_micros })]);
  }
  for (const entry of facts.of('budget.read')) {
    const { tenant, id = '' } = entry.args;
    const free = microsOf(entry.answer?.free);
    if (id.startsWith(STILL) && entry.outcome === 'ok' && free !== undefined)
      ops.push([nameOf(tenant, id), opOf(entry, { op: 'read', amount: Number(free) })]);
  }
  for (const entry of facts.of('join', 'mint')) {
    const { tenant, budget = '', hold } = entry.args;
    if (!budget.startsWith(STILL) || hold === undefined) continue;
    if (entry.outcome === 'refused' && !entry.answer?.error?.includes(budget)) continue;
    ops.push([nameOf(tenant, budget), opOf(entry, { op: 'hold', amount: hold })]);
  }
  return historiesOf(ops).map(({ object, ops: own }) => ({
    object,
    ops: cutAt(own, own[0]!.callUs + HELD_US),
  }));
}

export const HISTORIES: Readonly<
  Record<Model, (facts: Facts) => readonly History[] | Promise<readonly History[]>>
> = {
  keys: keyHistories,
  rooms: roomHistories,
  balances: balanceHistories,
  budgets: budgetHistories,
};
