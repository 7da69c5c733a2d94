/** Processes that are killed while they admit: exactly as many tokens as fit, and a hold for each participant. */
import { TokenService } from '@boxoffice/contract/token_service';
import { Client, credentials } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import { encode, metadataOf, send } from '../../doors/grpc/failing-calls.ts';
import { useChildService } from '../../support/child-service.ts';
import { failureOf, useControl } from '../../support/grpc.ts';
import { useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';
import { deviceOf, mint, newStage } from '../moderation/support.ts';
import { AUDIO_TOKEN, put, read, wanted } from './support.ts';

const app = useService();
const controlOf = useControl(app);
const children = [useChildService(app.database), useChildService(app.database)];

const { mintClientToken } = TokenService.method;
const MINTERS = 64;
const ROUNDS = 6;
const FITS = 200;

test('two processes admit, and one is killed in every second round', async () => {
  const stage = await newStage(app, controlOf);
  const tenant = idOf(stage.tenant);
  await put(app, stage.tenant, wanted({ max: BigInt(FITS) * AUDIO_TOKEN }));
  const countRows = async (table: string) => {
    const { rows } = await app.database.pool.query(
      `select count(*)::int from ${table} where tenant_id = $1`,
      [tenant],
    );
    return rows[0].count as number;
  };

  await Promise.all(children.map((child) => child.start()));
  let answered = 0;
  let ended = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const clients = children.map(
      ({ grpcPort }) => new Client(`127.0.0.1:${grpcPort}`, credentials.createInsecure()),
    );
    const before = ended;
    const mints = Array.from({ length: MINTERS }, async (_, at) => {
      const username = `user-${round}-${at}`;
      const device = { deviceThumbprint: deviceOf(username), capabilities: ['subscribe.audio'] };
      const fields = { tenant: stage.tenant.id, room: 'lobby', username, ...device };
      const bytes = encode(mintClientToken, fields);
      const ending = await send(
        clients[at % 2]!,
        mintClientToken,
        bytes,
        metadataOf(`Bearer ${stage.tenant.key}`),
      );
      ended += 1;
      if (ending.code === 'OK') answered += 1;
    });
    if (round % 2 === 0) {
      await expect.poll(() => ended, { interval: 1 }).toBeGreaterThan(before);
      await children[1]!.kill();
      await Promise.all(mints);
      await children[1]!.start();
    } else await Promise.all(mints);
    for (const client of clients) client.close();
    const admitted = await countRows('admissions');
    expect(await countRows('budget_holds')).toBe(admitted);
    expect((await read(app, stage.tenant)).held).toBe(BigInt(admitted) * AUDIO_TOKEN);
    expect(answered).toBeLessThanOrEqual(admitted);
  }

  const sound = { capabilities: ['subscribe.audio'] };
  for (let last = 0; (await countRows('admissions')) < FITS; last += 1)
    await mint(stage, `last-${last}`, sound);
  expect(await failureOf(mint(stage, 'more', sound))).toMatchObject({ reason: 'BUDGET_REACHED' });
  expect(await countRows('admissions')).toBe(FITS);
});
