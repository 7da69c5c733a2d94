/** A relay of the SDK for Go with a real service. Without Go, it is left out. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { ModerationService } from '@boxoffice/contract/moderation_service';
import { RoomService } from '@boxoffice/contract/room_service';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findTool, runTool } from '../../../scripts/toolchains.ts';
import { createDevice } from '../../../sdk/typescript/src/device/index.ts';
import { mint } from '../../doors/grpc/mint.ts';
import { useControl } from '../../support/grpc.ts';
import { useService } from '../../support/service.ts';

const FINGERPRINT = Array(32).fill('0a').join(':');
const go = findTool('go');

const app = useService();
const controlOf = useControl(app);

describe.skipIf(!go)('a relay in Go', () => {
  let folder: string;
  let relay: ChildProcess;
  let answers: Interface;
  let control: ReturnType<typeof controlOf>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'relay-go-'));
    const program = join(folder, 'runrelay');
    await runTool('go', ['build', '-o', program, './relay/internal/runrelay'], { folder: 'sdk/go' });
    const tenant = await app.paidTenant();
    control = controlOf(tenant);
    await control.call(RoomService.method.createRoom, { room: 'lobby' });
    const trust = ['http://service.test', 'relay:service.test', tenant.id, tenant.relayKey];
    const args = [app.url, ...trust, join(folder, 'spool')];
    relay = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    answers = createInterface(relay.stdout!);
  }, 900_000);
  afterAll(async () => {
    relay.kill('SIGKILL');
    await rm(folder, { recursive: true });
  });

  async function tell(...words: unknown[]): Promise<string> {
    const answer = once(answers, 'line');
    relay.stdin!.write(`${words.join(' ')}\n`);
    return (await answer)[0];
  }

  /** What the relay says to a device with a token. */
  async function present(device: Awaited<ReturnType<typeof createDevice>>, token: string): Promise<string> {
    const challenge = await tell('challenge');
    const connection = {
      url: 'https://relay.example/connect',
      method: 'CONNECT',
      dtlsFingerprint: FINGERPRINT,
    };
    return await tell('verify', token, await device.proof({ token, challenge, ...connection }), challenge);
  }

  test('admits a device with its token, and no other, until it is kicked', async () => {
    const [device, thief] = [await createDevice(), await createDevice()];
    const { token } = await mint(control, { deviceThumbprint: device.thumbprint, role: 'host' });
    await expect.poll(() => present(device, token)).toBe('admitted ann');
    expect(await present(thief, token)).toBe('PROOF_OTHER_DEVICE');
    await control.call(ModerationService.method.kickParticipant, { room: 'lobby', username: 'ann' });
    await expect.poll(() => present(device, token)).toBe('TOKEN_REVOKED kicked');
  });

  test('reports usage, which is charged once', async () => {
    await expect.poll(() => tell('admitted')).toBe('true');
    const ids = [];
    for (let count = 0; count < 20; count += 1)
      ids.push(await tell('report', `p-${count}`, 1_000_000 + count));
    expect(await tell('close')).toBe('0');
    const { rows } = await app.service.deps.db.query('select id, egress_bytes from usage_records');
    expect(rows.map(({ id }) => id).sort()).toEqual(ids.sort());
    const bytes = rows.reduce((sum: bigint, row) => sum + BigInt(row.egress_bytes), 0n);
    expect(bytes).toBe(20_000_190n);
  });
});
