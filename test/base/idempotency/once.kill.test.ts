/** A process killed between its commit and its answer. */
import { setTimeout as wait } from 'node:timers/promises';
import { RoomService } from '@boxoffice/contract/room_service';
import { expect, test } from 'vitest';
import { numberEvents } from '../../../src/events/number-events.ts';
import { useChildService } from '../../support/child-service.ts';
import { useDatabase } from '../../support/database.ts';
import { emptyLog } from '../../support/events.ts';
import { control, type TestControl } from '../../support/grpc.ts';
import { ask } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';

const ROUNDS = 8;
const LANES = 6;

const database = useDatabase();
const service = useChildService(database);
const { createRoom } = RoomService.method;

interface Wanted {
  readonly room: string;
  /** The answer, if it came. */
  uid?: string;
}

const create = (of: TestControl, { room }: Wanted) =>
  of.call(createRoom, { room, idempotencyKey: `create ${room}` }).then((answer) => answer.room!.uid);

test('a retry gets the first answer, and work that was not done is done once', {
  timeout: 300_000,
}, async () => {
  await service.start();
  const signedUp = await ask(`${service.url}/v1/signup`, 'POST', {
    body: { name: 'Ada', email: 'ada@example.com' },
  });
  const tenant = { id: signedUp.json.tenant, key: signedUp.json.api_key };
  await emptyLog(database.pool, idOf(tenant));

  const all: Wanted[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const of = control({ port: service.grpcPort }, tenant);
    const lane = async () => {
      for (;;) {
        const wanted: Wanted = { room: `room-${all.length}` };
        all.push(wanted);
        try {
          wanted.uid = await create(of, wanted);
        } catch {
          return;
        }
      }
    };
    const lanes = Array.from({ length: LANES }, lane);
    await wait(40 + round * 23);
    await service.kill();
    await Promise.all(lanes);
    await service.start();
  }
  const unanswered = all.filter(({ uid }) => uid === undefined);
  expect(unanswered.length).toBeGreaterThanOrEqual(ROUNDS);
  const { rows: before } = await database.pool.query('select name from rooms');
  const done = new Set(before.map(({ name }) => name));
  expect(all.filter(({ room, uid }) => uid !== undefined && !done.has(room))).toStrictEqual([]);

  const again = control({ port: service.grpcPort }, tenant);
  for (const wanted of all) {
    const uid = await create(again, wanted);
    if (wanted.uid !== undefined) expect(uid).toBe(wanted.uid);
  }
  const { rows } = await database.pool.query('select name, count(*)::integer from rooms group by name');
  expect(rows.length).toBe(all.length);
  expect(rows.filter(({ count }) => count !== 1)).toStrictEqual([]);
  await numberEvents(database.pool, [idOf(tenant)]);
  const { rows: events } = await database.pool.query(`select seq from events order by seq`);
  expect(events.map(({ seq }) => seq)).toStrictEqual(all.map((_, at) => BigInt(at + 1)));
});
