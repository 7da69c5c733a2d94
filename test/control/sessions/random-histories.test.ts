/** The sums of sessions, of unassigned usage and of what is not assigned yet equal the ledger at any step, whatever happens. */
import { ModerationService } from '@boxoffice/contract/moderation_service';
import { RoomService } from '@boxoffice/contract/room_service';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { assignNext } from '../../../src/control/sessions/assign-usage.ts';
import {
  SESSION_GROUPINGS,
  SESSION_SPANS,
  type SessionGrouping,
} from '../../../src/control/sessions/session-sums.ts';
import { summarizeSessions } from '../../../src/control/sessions/summarize-sessions.ts';
import { startOf } from '../../../src/money/month.ts';
import { summarizeUsage } from '../../../src/money/usage/summarize-usage.ts';
import { adjust, report, setExempt } from '../../doors/rest/ledger-routes.ts';
import { moved } from '../../support/append-only.ts';
import { checkLedger } from '../../support/check-ledger.ts';
import { useControl } from '../../support/grpc.ts';
import { monthsAgo } from '../../support/months.ts';
import { usageRecord, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';
import { mint, newStage, type Stage } from '../moderation/support.ts';
import { forgetExpulsion } from '../people/support.ts';
import { assignAll, expectAllAssigned } from './support.ts';

const app = useService();
const controlOf = useControl(app);
const db = () => app.service.deps.db;

const NAMES = ['ann', 'bob', 'cem'] as const;
const ROOMS = ['lobby', 'hall'] as const;

const room = fc.constantFrom(...ROOMS);
const name = fc.constantFrom(...NAMES);
// One user has the name that stands for erased ones.
const entrant = fc.constantFrom(...NAMES, '(erased)');
const customer = fc.constantFrom('acme', 'beta', '');
const record = fc.record({
  room: fc.constantFrom(...ROOMS, 'no such room', '', undefined),
  // Also as typed, and of users who are not in the room.
  participant: fc.constantFrom(...NAMES, 'Ann', 'stranger', '(erased)', '', undefined),
  tier: fc.constantFrom('audio', 'hd', 'full_hd', '2k', '2k_plus'),
  seconds: fc.oneof(fc.nat(3), fc.nat(86_400)),
  egress_bytes: fc.oneof(
    fc.nat(),
    fc.maxSafeNat().map((each) => each % 1e13),
  ),
});
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('enter' as const), room, name: entrant, customer }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('leave' as const), room, name }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('report' as const),
      records: fc.array(record, { minLength: 1, maxLength: 60 }),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ do: 'repeat' as const }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reopen' as const), room }) },
  // As if so many minutes had passed: records that follow are late.
  { weight: 2, arbitrary: fc.record({ do: fc.constant('age' as const), minutes: fc.nat(3_000) }) },
  { weight: 1, arbitrary: fc.constant({ do: 'exempt' as const }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('erase' as const), name }) },
  { weight: 3, arbitrary: fc.constant({ do: 'assign' as const }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

class History {
  readonly #stage: Stage;
  #exempt = false;
  #sent: Record<string, unknown>[] = [];

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  async take(each: Step): Promise<void> {
    const { tenant, control } = this.#stage;
    const id = idOf(tenant);
    switch (each.do) {
      case 'enter':
        await mint(this.#stage, each.name, { room: each.room, customer: each.customer });
        break;
      case 'leave':
        await this.#kick(each.room, each.name);
        break;
      case 'report':
        this.#sent = each.records.map((fields) => usageRecord(fields));
        await report(app, tenant, this.#sent);
        break;
      case 'repeat':
        // Duplicates cost nothing.
        await report(app, tenant, this.#sent);
        break;
      case 'reopen':
        await control.call(RoomService.method.endRoom, { room: each.room });
        await control.call(RoomService.method.createRoom, { room: each.room });
        break;
      case 'age':
        await this.#age(each.minutes);
        break;
      case 'exempt':
        this.#exempt = !this.#exempt;
        await setExempt(app, tenant, this.#exempt);
        break;
      case 'erase':
        for (const place of ROOMS) await this.#kick(place, each.name);
        await forgetExpulsion(db(), id);
        await app.request('POST', '/v1/participants/erase', {
          key: tenant.key,
          body: { participant: each.name },
        });
        break;
      case 'assign':
        await assignNext(db(), id);
    }
  }

  async #kick(place: string, username: string): Promise<void> {
    const call = this.#stage.control.call(ModerationService.method.kickParticipant, {
      room: place,
      username,
    });
    await call.catch((error: { readonly code: string }) => expect(error.code).toBe('NOT_FOUND'));
  }

  async #age(minutes: number): Promise<void> {
    const aged = (column: string) => `${column} = ${moved(column, `-${minutes} minutes`)}`;
    await db().query(`update sessions set ${aged('entered_at')}, ${aged('left_at')} where tenant_id = $1`, [
      idOf(this.#stage.tenant),
    ]);
  }
}

/** Groups and what is unassigned are the ledger's sum; what is unassigned is what rooms have without a session. */
async function expectLedgerSums(tenant: TenantId, by: SessionGrouping): Promise<void> {
  const period = { from: startOf(monthsAgo(11)), to: startOf(monthsAgo(-1)) };
  const page = { names: undefined, limit: 1_000, skip: 0 };
  const { total } = await summarizeUsage(db(), tenant, { groupBy: [], rooms: undefined, ...period, ...page });
  const { rows } = await db().query(
    `select coalesce(sum(amount), 0)::bigint as amount, coalesce(sum(records), 0)::bigint as records
       from room_usage where tenant_id = $1 and not is_assigned`,
    [tenant],
  );
  for (const every of [undefined, ...SESSION_SPANS]) {
    const found = await summarizeSessions(db(), tenant, { by, every, ...period, ...page });
    expect(found.total).toEqual(total);
    const sumOf = (name: 'amount' | 'records') => found.rows.reduce((sum, row) => sum + row[name], 0n);
    expect({ amount: found.unassigned.amount, records: found.unassigned.records }).toEqual(rows[0]);
    expect(sumOf('amount') + found.unassigned.amount).toBe(total.amount);
    expect(sumOf('records') + found.unassigned.records).toBe(total.records);
  }
}

test('no micro is lost, and none counts twice', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
      const stage = await newStage(app, controlOf);
      await stage.control.call(RoomService.method.createRoom, { room: 'hall' });
      const id = idOf(stage.tenant);
      await adjust(app, stage.tenant, 10n ** 12n);
      const history = new History(stage);
      for (const each of steps) {
        await history.take(each);
        await expectAllAssigned(db(), id);
      }
      await assignAll(db(), id);
      await expectAllAssigned(db(), id);
      await checkLedger(db());
      for (const by of SESSION_GROUPINGS) await expectLedgerSums(id, by);
      // Everything can be shown by room.
      const { rows } = await db().query(
        'select room_uid as uid from room_usage where tenant_id = $1 and room_uid <> $2',
        [id, ''],
      );
      for (const { uid } of rows) {
        const cost = await app.request('GET', `/v1/rooms/${uid}/cost`, { key: stage.tenant.key });
        expect(cost.status).toBe(200);
      }
    }),
    { numRuns: 25, endOnFailure: true },
  );
});
