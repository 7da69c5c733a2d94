import { describe, expect, it } from 'vitest';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import type { Dispute, DisputeOutcome } from '../../../src/money/reversals/reversal.ts';
import {
  findReasonsToFreeze,
  sumTakenBack,
  upsertDispute,
  upsertRefund,
} from '../../../src/money/reversals/reversals.sql.ts';
import { useDatabase } from '../../support/database.ts';

const database = useDatabase();
let ids = 0;
const newId = () => String(++ids);

/** All orders of the list. */
function ordersOf<T>(list: readonly T[]): T[][] {
  if (list.length < 2) return [[...list]];
  return list.flatMap((first, at) => ordersOf(list.toSpliced(at, 1)).map((rest) => [first, ...rest]));
}

describe('answers of the provider about a refund', () => {
  async function takenAfter(statuses: readonly string[]): Promise<bigint> {
    const [id, paymentId] = [newId(), newId()];
    return inTransaction(database.pool, async (tx) => {
      for (const status of statuses) await upsertRefund(tx, paymentId, { id, amount: 100n, status });
      return sumTakenBack(tx, paymentId);
    });
  }

  it.each([
    [['requires_action'], 0n],
    [['requires_action', 'pending'], 100n],
    [['requires_action', 'pending', 'succeeded'], 100n],
    [['pending', 'succeeded', 'failed'], 0n],
    [['requires_action', 'canceled'], 0n],
    [['pending', 'a_status_of_next_year'], 100n],
  ])('%j take the same in any order', async (statuses, taken) => {
    for (const order of ordersOf(statuses)) expect([order, await takenAfter(order)]).toEqual([order, taken]);
  });
});

describe('answers of the provider about a dispute', () => {
  type Answer = readonly [withdrawn: bigint, reinstated: bigint, movements: number, DisputeOutcome | null];

  async function afterwards(answers: readonly Answer[]) {
    const [id, paymentId] = [newId(), newId()];
    return inTransaction(database.pool, async (tx) => {
      const news: boolean[] = [];
      for (const [withdrawn, reinstated, movements, outcome] of answers) {
        const dispute: Omit<Dispute, 'paymentId'> = {
          id,
          amount: 100n,
          movements,
          withdrawn,
          reinstated,
          outcome,
          reason: 'fraudulent',
          inquiry: movements === 0,
        };
        news.push((await upsertDispute(tx, paymentId, dispute)).isNews);
      }
      const freezes = (await findReasonsToFreeze(tx, paymentId)).length > 0;
      return { taken: await sumTakenBack(tx, paymentId), freezes, news };
    });
  }

  const OPEN: Answer = [100n, 0n, 1, null];
  const INQUIRY: Answer = [0n, 0n, 0, null];
  const INQUIRY_CLOSED: Answer = [0n, 0n, 0, 'closed'];
  const LOST: Answer = [100n, 0n, 1, 'lost'];
  const APPEALED: Answer = [100n, 0n, 1, null];
  const WON: Answer = [100n, 100n, 2, 'won'];
  const WON_IN_PART: Answer = [100n, 30n, 2, 'won'];

  it.each<[string, Answer[], { taken: bigint; freezes: boolean }]>([
    ['a dispute', [OPEN], { taken: 100n, freezes: true }],
    ['a won dispute', [OPEN, WON], { taken: 0n, freezes: false }],
    ['a dispute won in part', [OPEN, WON_IN_PART], { taken: 70n, freezes: false }],
    ['a lost dispute', [OPEN, LOST], { taken: 100n, freezes: true }],
    ['an appeal', [OPEN, LOST, APPEALED], { taken: 100n, freezes: true }],
    ['a dispute won on appeal', [OPEN, LOST, APPEALED, WON], { taken: 0n, freezes: false }],
    ['an inquiry', [INQUIRY], { taken: 0n, freezes: true }],
    ['a closed inquiry', [INQUIRY, INQUIRY_CLOSED], { taken: 0n, freezes: false }],
    ['an inquiry that became a dispute', [INQUIRY, INQUIRY_CLOSED, OPEN], { taken: 100n, freezes: true }],
  ])('%s: the same in any order', async (_, answers, expected) => {
    for (const order of ordersOf(answers)) expect(await afterwards(order)).toMatchObject(expected);
  });

  it('never take less than nothing', async () => {
    expect(await afterwards([[100n, 130n, 2, 'won']])).toMatchObject({ taken: 0n });
  });

  it('are news when the dispute is new, decided, or begins to freeze again', async () => {
    const { news } = await afterwards([
      INQUIRY,
      INQUIRY,
      INQUIRY_CLOSED,
      INQUIRY_CLOSED,
      OPEN,
      OPEN,
      LOST,
      APPEALED,
      WON,
    ]);
    expect(news).toEqual([true, false, true, false, true, false, true, false, true]);
  });

  it('from before the balance transactions were counted are replaced', async () => {
    const paymentId = newId();
    await database.pool.query(
      `insert into disputes (id, payment_id, amount, withdrawn, reinstated) values ($1, $1, 100, 100, 100)`,
      [paymentId],
    );
    const dispute = {
      id: paymentId,
      amount: 100n,
      movements: 2,
      withdrawn: 100n,
      reinstated: 30n,
      outcome: null,
      reason: 'fraudulent',
      inquiry: false,
    };
    const taken = await inTransaction(database.pool, async (tx) => {
      await upsertDispute(tx, paymentId, dispute);
      return sumTakenBack(tx, paymentId);
    });
    expect(taken).toBe(70n);
  });
});
