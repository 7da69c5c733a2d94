import { pino } from 'pino';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { appendEvents } from '../../../src/events/append-events.sql.ts';
import { openMailbox } from '../../../src/run/start-sandbox.ts';
import { setStatus } from '../../doors/rest/support.ts';
import { getPage, makeMember, sendForm } from '../../support/console.ts';
import { useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';

const lines: string[] = [];
const log = pino({ level: 'info' }, { write: (line) => void lines.push(line) });
const app = useService({ payments: false, log, hasMailbox: true });
beforeEach(() => {
  lines.length = 0;
});

test('without a mail server, a mail is kept, the log names it, and the mailbox shows it', async () => {
  const tenant = await app.signUp({ name: 'Ada <b>Video</b>' });
  await setStatus(app, tenant, 'active');
  const { db, events } = app.service.deps;
  const subject = { balance: '4998732', below: '5000000' };
  await appendEvents(db, idOf(tenant), [{ type: 'balance_low', roomUid: null, subject }]);
  events.wake(idOf(tenant));

  const mailbox = openMailbox(app.config);
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

test('a link to log in is shown in the mailbox until it expires, the page says where, and no log has it', async () => {
  const tenant = await app.signUp();
  const { db } = app.service.deps;
  const email = 'developer@example.com';
  await makeMember(db, idOf(tenant), { email });
  const asked = await sendForm(app, '/console/login', { email });
  expect(asked.text).toContain(`<a href="${app.sandbox.url}/mailbox">`);

  const mailbox = openMailbox(app.config);
  onTestFinished(() => mailbox.close());
  const find = async () => {
    const entry = (await mailbox.list()).find(({ to }) => to === email);
    return entry && mailbox.find(entry.id);
  };
  const kept = await vi.waitFor(
    async () => {
      const mail = await find();
      expect(mail).toMatchObject({ state: 'kept', subject: 'Log in to Boxoffice' });
      return mail!;
    },
    { timeout: 60_000 },
  );
  const [link = ''] = /\/console\/login\/[\w-]{43}/.exec(kept.text) ?? [];
  expect(kept.html).toContain(`href="http://service.test${link}" target="_blank"`);
  expect((await getPage(app, link)).text).toContain(email);
  expect(lines.join('\n')).toContain(kept.id);
  expect(lines.join('\n')).not.toMatch(/developer@|console\/login\//);

  await db.query(`update mails set expires_at = expires_at - interval '15 minutes' where id = $1`, [kept.id]);
  await vi.waitFor(async () => expect((await find())!.text).toContain('not shown any more'), {
    timeout: 60_000,
  });
  expect((await find())!.text).not.toContain(link);
  const { rows } = await db.query('select state, sealed from mails where id = $1', [kept.id]);
  expect(rows).toEqual([{ state: 'kept', sealed: null }]);
});
