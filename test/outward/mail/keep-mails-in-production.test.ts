/** In production without a mail server, nothing shows a link to log in, so nothing keeps it. */
import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { makeMember, sendForm } from '../../support/console.ts';
import { useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';

const lines: string[] = [];
const log = pino({ level: 'info' }, { write: (line) => void lines.push(line) });
// Even with the address of a mailbox.
const app = useService({ payments: false, log, production: true, hasMailbox: true });

test('a link is erased at once, and neither page nor log tells where it could be', async () => {
  const { db } = app.service.deps;
  const { email } = await makeMember(db, idOf(await app.signUp()));
  const asked = await sendForm(app, '/console/login', { email });
  expect(asked.status).toBe(200);
  expect(asked.text).not.toMatch(/mailbox|log of the service/);
  await vi.waitFor(
    async () => {
      const { rows } = await db.query('select state, sealed from mails where address = $1', [email]);
      expect(rows).toEqual([{ state: 'kept', sealed: null }]);
    },
    { timeout: 60_000 },
  );
  expect(lines.join('\n')).toContain('a mail was kept: SMTP_URL is not set');
  expect(lines.join('\n')).not.toMatch(/@example\.com|console\/login/);
});
