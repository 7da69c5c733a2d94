import { Writable } from 'node:stream';
import pino from 'pino';
import { expect, test } from 'vitest';
import { loggedMails } from '../../../src/access/sessions/logged-mails.ts';
import { loginMail } from '../../../src/access/sessions/login-mail.ts';

function logOf(showsText: boolean): string {
  let text = '';
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      text += String(chunk);
      done();
    },
  });
  const mails = loggedMails(pino(stream), showsText);
  const mail = loginMail('ann@example.com', 'https://boxoffice.example/console/login/secret');
  mails.send(mail);
  return text;
}

test('a mail is in the log, so that a new clone can be logged in to', () => {
  expect(JSON.parse(logOf(true))).toMatchObject({
    to: 'ann@example.com',
    text: expect.stringContaining('/console/login/secret'),
  });
});

test('in production, neither address nor link is', () => {
  const text = logOf(false);
  expect(text).toContain('a mail was not sent');
  expect(text).not.toMatch(/ann@|secret/);
});
