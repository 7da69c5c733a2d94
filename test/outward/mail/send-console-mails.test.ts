import { Writable } from 'node:stream';
import pino from 'pino';
import { describe, expect, test, vi } from 'vitest';
import { invitationMail, loginMail } from '../../../src/access/sessions/login-mail.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { SmtpMailer } from '../../../src/outward/mail/mailer.ts';
import { sentConsoleMails } from '../../../src/outward/mail/send-console-mails.ts';
import { parseSmtpUrl } from '../../../src/outward/mail/smtp-server.ts';
import { useSmtp } from './smtp.ts';

const smtp = useSmtp();
const LINK = `https://boxoffice.example/console/login/${'A'.repeat(43)}`;

function open() {
  const lines: string[] = [];
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      lines.push(String(chunk));
      done();
    },
  });
  const server = parseSmtpUrl(`smtp://127.0.0.1:${smtp.port}`)!;
  const mailer = new SmtpMailer({ server, from: { name: 'Boxoffice', address: 'billing@example.com' } });
  return { lines, mails: sentConsoleMails(mailer, pino(stream), [0, 0]) };
}

describe('a mail of the console', () => {
  test('arrives with its link as text and as HTML', async () => {
    open().mails.send(loginMail('ada@example.com', LINK));
    await vi.waitFor(() => expect(smtp.received).toHaveLength(1));
    const source = smtp.received[0]!.source.replace(/=\r\n/g, '');
    expect(smtp.received[0]!.to).toEqual(['ada@example.com']);
    expect(source).toContain('Subject: Log in to Boxoffice');
    expect(source.split(LINK).length).toBeGreaterThan(2);
  });

  test('cannot be turned into another one by the name of a tenant', async () => {
    const tenantName = 'Ada\r\nBcc: eve@example.com\r\n\r\n<script>alert(1)</script>';
    const invitation = invitationMail(1n as TenantId, 'ada@example.com', {
      tenantName,
      role: 'viewer',
      loginUrl: LINK,
    });
    open().mails.send(invitation);
    await vi.waitFor(() => expect(smtp.received).toHaveLength(1));
    const [head = ''] = smtp.received[0]!.source.split('\r\n\r\n');
    expect(head).not.toMatch(/^bcc:/im);
    expect(smtp.received[0]!.to).toEqual(['ada@example.com']);
    const [, text = '', markup = ''] = smtp.received[0]!.source.replace(/=\r\n/g, '').split(
      'Content-Type: text/',
    );
    expect(text).toContain('"Ada Bcc: eve@example.com <script>');
    expect(markup).not.toContain('<script>');
  });

  test('is tried again while the server is busy', async () => {
    smtp.behavior = 'busy';
    const { lines, mails } = open();
    mails.send(loginMail('ada@example.com', LINK));
    await vi.waitFor(() => expect(lines).toHaveLength(1));
    smtp.behavior = 'take';
    await vi.waitFor(() => expect(smtp.received).toHaveLength(1));
  });

  test('that is refused is named in the log, without address and link', async () => {
    smtp.behavior = 'refuse recipient';
    const { lines, mails } = open();
    mails.send(loginMail('ada@example.com', LINK));
    await vi.waitFor(() => expect(lines.join()).toContain('could not be sent'));
    expect(lines.join()).not.toMatch(/ada@|console\/login/);
  });
});
