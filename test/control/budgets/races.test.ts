/** Many minters on several services at once: exactly as many tokens as fit, whatever ends in the middle. */
import { RoomService } from '@boxoffice/contract/room_service';
import { expect, test } from 'vitest';
import { outageOf } from '../../../src/base/db/outage.ts';
import type { Failure } from '../../../src/base/failure.ts';
import { mintClientToken } from '../../../src/control/admission/mint-client-token.ts';
import { giveBackExpired } from '../../../src/control/budgets/give-back.ts';
import { findAssignedUntil } from '../../../src/control/sessions/session-cursors.sql.ts';
import { useControl } from '../../support/grpc.ts';
import { useService } from '../../support/service.ts';
import { callerOf, idOf } from '../../support/tenants.ts';
import { deviceOf, newStage } from '../moderation/support.ts';
import { AUDIO_TOKEN, expireBefore, pass, put, read, spend, wanted } from './support.ts';

const app = useService();
const controlOf = useControl(app);

const MINTERS = 64;
const ROUNDS = 5;

test('64 minters at two services, with two rooms and three budgets, while relays report', async () => {
  const stage = await newStage(app, controlOf);
  const tenant = idOf(stage.tenant);
  await stage.control.call(RoomService.method.createRoom, { room: 'lounge' });
  const other = await app.another();
  const fits = 100n;
  const fitInLobby = 30n;
  await put(app, stage.tenant, wanted({ max: fits * AUDIO_TOKEN }));
  await put(app, stage.tenant, wanted({ id: 'lobbies', room: 'lobby', max: fitInLobby * AUDIO_TOKEN }));
  await put(app, stage.tenant, wanted({ id: 'patterns', room: 'lo*', max: fits * AUDIO_TOKEN }));

  const services = [app.service, other.service];
  const admitted: { readonly room: string; readonly participant: string }[] = [];
  const mintOne = async (at: number, round: number): Promise<void> => {
    const username = `user-${round}-${at}`;
    const room = at % 2 === 0 ? 'lobby' : 'lounge';
    try {
      await mintClientToken(services[(at >> 1) % 2]!.deps, callerOf(tenant), {
        ...{ room, username, thumbprint: deviceOf(username), role: 'audience' },
        capabilities: ['subscribe.audio'],
        ...{
          rank: undefined,
          lifetimeSeconds: undefined,
          ageVerified: false,
          address: undefined,
          customer: null,
        },
      });
      admitted.push({ room, participant: username });
    } catch (error) {
      // A busy machine lets calls, or their statements, wait too long.
      const isLate = outageOf(error) === 'deadline_exceeded';
      if (isLate || (error as Partial<Failure>).kind === 'too_many_calls') return await mintOne(at, round);
      expect(error).toMatchObject({ kind: 'budget_reached' });
    }
  };
  for (let round = 0; round < ROUNDS; round += 1) {
    // Relays report what those of the rounds before used for a minute, at the ceiling: it frees nothing.
    const usage = { seconds: 60, micros: AUDIO_TOKEN / 10n };
    const reports = admitted.slice(-8).map((each) => spend(app, stage.tenant, { ...each, ...usage }));
    const mints = Array.from({ length: MINTERS }, (_, at) => mintOne(at, round));
    await Promise.all([...mints, ...reports]);
    await pass(app, stage.tenant, 60);
  }

  expect(admitted.filter(({ room }) => room === 'lobby')).toHaveLength(Number(fitInLobby));
  expect(admitted).toHaveLength(Number(fits));
  for (const id of ['all', 'lobbies', 'patterns']) {
    const { max, spent, held } = await read(app, stage.tenant, id);
    expect(spent + held).toBe(max);
  }
  await expireBefore(app, 901);
  // Holds wait until usage of before is assigned, and the jobs of the services may be giving some back.
  const readNext = async (id: string) => {
    await giveBackExpired(app.service.deps, findAssignedUntil);
    return read(app, stage.tenant, id);
  };
  for (const id of ['all', 'lobbies', 'patterns']) {
    await expect.poll(() => readNext(id)).toMatchObject({ held: 0n });
  }
});
