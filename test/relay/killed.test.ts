/** A relay with many media sessions that is killed: what the ledger has then. */
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, inject, test } from 'vitest';
import { useService } from '../support/service.ts';
import { type Connected, openMeeting, PACKET_BYTES, picture } from './media.ts';
import { startRelay } from './support.ts';

const app = useService();
const SUBSCRIBERS = 12;

test('a relay that is killed with many sessions loses a second of each at most, and charges nothing twice', async () => {
  const tenant = await app.paidTenant();
  const spool = await mkdtemp(join(inject('scratch'), 'relay-'));
  const first = await startRelay(app, tenant, { spool });
  const { connect } = await openMeeting(app, tenant, first);
  const ann = await connect('ann', 'hall', 'whip');
  const viewers = new Map<string, Connected>();
  for (let count = 0; count < SUBSCRIBERS; count += 1)
    viewers.set(`viewer-${count}`, await connect(`viewer-${count}`, 'hall', 'whep'));
  const counts = () => new Map([...viewers].map(([name, { received }]) => [name, received() * PACKET_BYTES]));

  const seen: { readonly at: number; readonly bytes: Map<string, number> }[] = [];
  for (let sequence = 0; sequence < 200; sequence += 1) {
    ann.send(picture(sequence));
    await sleep(20);
    seen.push({ at: performance.now(), bytes: counts() });
  }
  const killedAt = performance.now();
  first.kill();
  // Half a second more, because a busy machine stores later than each second.
  const stored = seen.findLast(({ at }) => at < killedAt - 1_500)!.bytes;
  // One that is killed while it reports has reported once all the same.
  (await startRelay(app, tenant, { spool })).kill();
  const third = await startRelay(app, tenant, { spool });

  const charged = async () => {
    const { rows } = await app.service.deps.db.query<{ participant: string; egress: number }>(
      'select participant, sum(egress_bytes)::float8 as egress from usage_records group by 1',
    );
    return new Map(rows.map(({ participant, egress }) => [participant, egress]));
  };
  await expect.poll(async () => (await charged()).size).toBe(1 + SUBSCRIBERS);
  // What the relay had sent before its end has arrived by now.
  const last = counts();
  await third.stop();
  for (const [name, egress] of await charged()) {
    expect(egress).toBeGreaterThanOrEqual(stored.get(name) ?? 0);
    expect(egress).toBeLessThanOrEqual(last.get(name) ?? 0);
  }
  const { rows } = await app.service.deps.db.query('select from usage_conflicts');
  expect(rows).toEqual([]);
});
