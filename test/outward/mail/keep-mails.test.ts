import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { appendEvents } from '../../../src/events/append-events.sql.ts';
import { openMailbox } from '../../../src/run/start-sandbox.ts';
import { useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';

const lines: string[] = [];
const log = pino({ level: 'info' }, { write: (line) => void lines.push(line) });
const app = useService({ payments: false, log });

test('without a mail server, a mail is kept, the log names it, and the mailbox shows it', async () => {
  const tenant = await app.signUp({ name: 'Ada <b>Video</b>' });
  const { db, events } = app.service.deps;
  const subject = { balance: '4998732', below: '5000000' };
  await appendEvents(db, idOf(tenant), [{ type: 'balance_low', roomUid: null, subject }]);
  events.wake(idOf(tenant));

  const mailbox = openMailbox({
    databaseUrl: app.config.databaseUrl,
    secretsKey: app.config.secretsKey,
    publicUrl: 'http://service.test',
  });
  try {
    await vi.waitFor(async () => expect(await mailbox.list()).toMatchObject([{ state: 'kept' }]), {
      timeout: 60_000,
    });
    const { id, to, subject: line } = (await mailbox.list())[0]!;
    expect({ to, line }).toEqual({
      to: 'ada@example.com',
      line: 'Your balance is below $5.00 · Ada <b>Video</b>',
    });
    const shown = await mailbox.find(id);
    expect(shown?.text).toContain('Balance: $4.99 (exactly $4.998732)');
    expect(shown?.html).toContain('Ada &lt;b&gt;Video&lt;/b&gt;');
    expect(await mailbox.find(`mail_${'0'.repeat(32)}`)).toBeUndefined();
  } finally {
    await mailbox.close();
  }
  const said = lines.map((each) => JSON.parse(each)).filter(({ mail }) => mail !== undefined);
  expect(said).toMatchObject([{ type: 'balance_low', tenant: tenant.id }]);
  expect(lines.join('\n')).not.toContain('ada@example.com');
});
