/** Runs a project of `examples` that is a relay, with devices and a service. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { ModerationService } from '@boxoffice/contract/moderation_service';
import { RoomService } from '@boxoffice/contract/room_service';
import { expect } from 'vitest';
import { createDevice } from '../../sdk/typescript/src/device/index.ts';
import { mint } from '../doors/grpc/mint.ts';
import type { useControl } from '../support/grpc.ts';
import type { useService } from '../support/service.ts';
import { idOf } from '../support/tenants.ts';

const FINGERPRINT = Array(32).fill('0a').join(':');

type Device = Awaited<ReturnType<typeof createDevice>>;

/** `controlOf` is that of `useControl`; `spool`, a folder for usage. */
export async function tryRelay(
  [command, ...args]: readonly [string, ...string[]],
  {
    app,
    controlOf,
    spool,
  }: {
    readonly app: ReturnType<typeof useService>;
    readonly controlOf: ReturnType<typeof useControl>;
    readonly spool: string;
  },
): Promise<void> {
  const tenant = await app.paidTenant();
  const control = controlOf(tenant);
  await control.call(RoomService.method.createRoom, { room: 'lobby' });
  const child = spawn(command, args, {
    env: {
      PATH: process.env.PATH,
      PORT: '0',
      BOXOFFICE_URL: app.url,
      BOXOFFICE_RELAY_KEY: tenant.relayKey,
      ISSUER: 'http://service.test',
      AUDIENCE: 'relay:service.test',
      TENANT: tenant.id,
      SPOOL: spool,
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  try {
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    const url = String((await lines.next()).value);
    /** The answer to a device that shows a token. */
    const show = async (device: Device, token: string, request: { url: string; method: string }) => {
      const asked = await fetch(request.url, { method: request.method });
      const challenge = asked.headers.get('dpop-nonce')!;
      const proof = await device.proof({ token, challenge, ...request, dtlsFingerprint: FINGERPRINT });
      const headers = { authorization: `DPoP ${token}`, dpop: proof, 'dpop-nonce': challenge };
      return await fetch(request.url, { method: request.method, headers });
    };
    const join = (device: Device, token: string) =>
      show(device, token, { url: `${url}/sessions`, method: 'POST' });
    const statusOf = async (answer: Promise<Response>) => (await answer).status;

    const [device, thief] = [await createDevice(), await createDevice()];
    const { token } = await mint(control, { deviceThumbprint: device.thumbprint, role: 'host' });
    await expect.poll(() => statusOf(join(device, token))).toBe(201);
    expect(await statusOf(join(thief, token))).toBe(403);
    const session = `${url}${(await join(device, token)).headers.get('location')}`;
    expect(await statusOf(fetch(session, { method: 'PUT', body: 'x'.repeat(500) }))).toBe(200);
    expect((await (await fetch(session)).bytes()).length).toBe(1_000);
    expect(await statusOf(fetch(session, { method: 'DELETE' }))).toBe(204);
    expect(await statusOf(fetch(session))).toBe(410);

    const bob = await createDevice();
    const ofBob = { username: 'bob', deviceThumbprint: bob.thumbprint, role: 'host' } as const;
    const stays = url + (await join(bob, (await mint(control, ofBob)).token)).headers.get('location');
    const banRange = (cidr: string) =>
      control.call(ModerationService.method.banSubject, { subject: { case: 'cidr', value: cidr } });
    await banRange('192.0.2.0/24');
    const kicked = url + (await join(device, token)).headers.get('location');
    expect(await statusOf(fetch(kicked))).toBe(200);
    await control.call(ModerationService.method.kickParticipant, { room: 'lobby', username: 'ann' });
    // The session of the first answer, too.
    for (let each = 0; each < 2; each += 1) expect((await lines.next()).value).toMatch(/^ann ended: /);
    expect(await statusOf(fetch(kicked))).toBe(410);
    expect(await statusOf(fetch(stays))).toBe(200);

    const { token: last } = await mint(control, { ...ofBob, lifetime: { seconds: 4n } });
    expect(await statusOf(show(bob, last, { url: stays, method: 'PATCH' }))).toBe(204);
    expect((await lines.next()).value).toBe('bob ended: TOKEN_EXPIRED');
    const near = url + (await join(bob, (await mint(control, ofBob)).token)).headers.get('location');
    await banRange('127.0.0.0/8');
    expect((await lines.next()).value).toMatch(/^bob ended: /);
    expect(await statusOf(fetch(near))).toBe(410);

    const exit = once(child, 'exit');
    child.kill('SIGTERM');
    expect(await exit).toStrictEqual([0, null]);
    const { rows } = await app.service.deps.db.query(
      'select sum(egress_bytes)::bigint as egress, sum(ingress_bytes)::bigint as ingress from usage_records where tenant_id = $1',
      [idOf(tenant)],
    );
    expect(rows).toEqual([{ egress: 3_000n, ingress: 500n }]);
  } finally {
    child.kill('SIGKILL');
  }
}
