/** An attempt that hangs ends with the link of its mail. */
import { expect, test } from 'vitest';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import type { OutgoingMail } from '../../../src/outward/mail/mailer.ts';
import { sendMails } from '../../../src/outward/mail/send-mails.ts';
import { depsOn } from '../../control/watchdogs/support.ts';
import { useDatabase } from '../../support/database.ts';

const database = useDatabase();

async function write(secondsLeft: number): Promise<void> {
  const { consoleMails } = depsOn(database.pool);
  const mail = { type: 'login_link', to: 'ada@example.com', secret: 'A'.repeat(43) } as const;
  await inTransaction(database.pool, (tx) => consoleMails.write(tx, mail));
  await database.pool.query(`update mails set expires_at = now() + make_interval(secs => $1)`, [secondsLeft]);
}

function mailer(sent: OutgoingMail[]) {
  return {
    send: (mail: OutgoingMail, signal: AbortSignal) => {
      sent.push(mail);
      return new Promise<void>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    },
  };
}

test('an attempt ends when the link expires, and there is no other', async () => {
  await write(1);
  const sent: OutgoingMail[] = [];
  const deps = { ...depsOn(database.pool), mailer: mailer(sent) };
  await sendMails(deps, new AbortController().signal);
  expect(sent).toHaveLength(1);
  await database.pool.query('update mails set next_at = now()');
  await sendMails(deps, new AbortController().signal);
  expect(sent).toHaveLength(1);
});

test('a link that has expired is not sent at all', async () => {
  await database.pool.query('delete from mails');
  await write(-1);
  const sent: OutgoingMail[] = [];
  await sendMails({ ...depsOn(database.pool), mailer: mailer(sent) }, new AbortController().signal);
  expect(sent).toEqual([]);
});
