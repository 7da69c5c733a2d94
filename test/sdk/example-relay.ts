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
    const join = async (device: Device, token: string) => {
      const asked = await fetch(`${url}/sessions`, { method: 'POST' });
      const challenge = asked.headers.get('dpop-nonce')!;
      const connection = { url: `${url}/sessions`, method: 'POST', dtlsFingerprint: FINGERPRINT };
      const proof = await device.proof({ token, challenge, ...connection });
      const headers = { authorization: `DPoP ${token}`, dpop: proof, 'dpop-nonce': challenge };
      return await fetch(`${url}/sessions`, { method: 'POST', headers });
    };
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

    const kicked = `${url}${(await join(device, token)).headers.get('location')}`;
    expect(await statusOf(fetch(kicked))).toBe(200);
    await control.call(ModerationService.method.kickParticipant, { room: 'lobby', username: 'ann' });
    // What a session sends counts, so it is asked in the way that sends nothing.
    await expect.poll(() => statusOf(fetch(kicked, { method: 'PUT' }))).toBe(410);
    expect((await lines.next()).value).toMatch(/^ann ended: /);

    const exit = once(child, 'exit');
    child.kill('SIGTERM');
    expect(await exit).toStrictEqual([0, null]);
    const { rows } = await app.service.deps.db.query(
      'select sum(egress_bytes)::bigint as egress, sum(ingress_bytes)::bigint as ingress from usage_records',
    );
    expect(rows).toEqual([{ egress: 2_000n, ingress: 500n }]);
  } finally {
    child.kill('SIGKILL');
  }
}
