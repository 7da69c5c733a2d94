import { timestampDate } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from 'vitest';
import { RoomService } from '../../../src/gen/boxoffice/control/v1/room_service_pb.ts';
import { TokenService } from '../../../src/gen/boxoffice/control/v1/token_service_pb.ts';
import { failureOf, useControl } from '../../support/grpc.ts';
import { useService } from '../../support/service.ts';
import { spendAll, verify } from '../join/support.ts';

const app = useService();
const controlOf = useControl(app);
const THUMBPRINT = 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs';

describe('MintClientToken', () => {
  test('mints a token that says what was granted', async () => {
    const tenant = await app.paidTenant();
    const control = controlOf(tenant);
    const { room } = await control.call(RoomService.method.createRoom, { room: 'lobby' });
    const minted = await control.call(TokenService.method.mintClientToken, {
      room: 'lobby',
      username: 'Ann',
      deviceThumbprint: THUMBPRINT,
      role: 'host',
      capabilities: ['publish.audio', 'chat.send'],
      lifetime: { seconds: 900n },
    });
    expect(minted).toMatchObject({
      room: 'lobby',
      username: 'ann',
      deviceThumbprint: THUMBPRINT,
      roomUid: room!.uid,
    });
    const claims = await verify(app, minted.token);
    expect(claims).toMatchObject({
      sub: 'ann',
      tid: tenant.id,
      cnf: { jkt: THUMBPRINT },
      room: 'lobby',
      rid: room!.uid,
      role: 'host',
      cap: ['chat.send', 'publish.audio'],
      rank: 80,
      ep: 0,
      key: tenant.keyId,
    });
    expect(claims.exp! - claims.iat!).toBe(900);
    expect(timestampDate(minted.expireTime!).getTime()).toBe(claims.exp! * 1000);
  });

  test('15 minutes and a second is refused', async () => {
    const control = controlOf(await app.paidTenant());
    await control.call(RoomService.method.createRoom, { room: 'lobby' });
    const mint = {
      room: 'lobby',
      username: 'ann',
      deviceThumbprint: THUMBPRINT,
      lifetime: { seconds: 901n },
    };
    const failure = await failureOf(control.call(TokenService.method.mintClientToken, mint));
    expect(failure).toMatchObject({
      code: 'INVALID_ARGUMENT',
      reason: 'INVALID_REQUEST',
      fields: ['lifetime'],
    });
  });

  test('without credit nothing is minted', async () => {
    const tenant = await app.paidTenant();
    const control = controlOf(tenant);
    await spendAll(app, tenant);
    await control.call(RoomService.method.createRoom, { room: 'lobby' });
    const mint = { room: 'lobby', username: 'ann', deviceThumbprint: THUMBPRINT };
    const failure = await failureOf(control.call(TokenService.method.mintClientToken, mint));
    expect(failure).toMatchObject({
      code: 'FAILED_PRECONDITION',
      reason: 'NO_CREDIT',
      preconditions: ['NO_CREDIT'],
    });
  });
});
