import { expect, it } from 'vitest';
import { OTHER_CARD, usePayments } from './support.ts';

const kit = usePayments();
const { app } = kit;
const CHARGE = { method: 'POST', path: '/v1/payment_intents' } as const;

it('a hanging charge does not delay the top-ups of other tenants', async () => {
  const [slow, quick] = [await kit.toppedUp(), await kit.toppedUp({ card: OTHER_CARD })];
  app.sandbox.control.fault({ effect: 'slow', ...CHARGE, ms: 4_000 });
  await kit.spend(slow, 600);
  await expect.poll(async () => (await kit.attemptsOf(slow))[0]?.state).toBe('unknown');
  await expect.poll(() => app.sandbox.control.waitingFaults().length).toBe(0);
  for (let time = 0; time < 2; time += 1) {
    await kit.spend(quick, time === 0 ? 600 : 1700);
    expect(await kit.finished(quick)).toMatchObject({ state: 'succeeded' });
  }
  expect((await kit.attemptsOf(slow))[0]).toMatchObject({ state: 'unknown' });
  expect(await kit.finished(slow)).toMatchObject({ state: 'succeeded' });
});

it('two processes top up many tenants, each once', async () => {
  await app.another();
  const tenants = await Promise.all(Array.from({ length: 12 }, () => kit.toppedUp()));
  await Promise.all(tenants.map((tenant) => kit.spend(tenant, 600)));
  for (const tenant of tenants) {
    expect(await kit.finished(tenant)).toMatchObject({ state: 'succeeded', sends: 1 });
    expect(await kit.balanceOf(tenant)).toBe(24_000_000);
  }
});
