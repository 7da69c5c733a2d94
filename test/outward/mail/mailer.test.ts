import * as tls from 'node:tls';
import { afterEach, describe, expect, test } from 'vitest';
import {
  describeMailError,
  type MailConfig,
  MailRefused,
  SmtpMailer,
} from '../../../src/outward/mail/mailer.ts';
import { parseSmtpUrl } from '../../../src/outward/mail/smtp-server.ts';
import { CERTIFICATE, useSmtp } from './smtp.ts';

const smtp = useSmtp();
const from = { name: 'Box "Office"', address: 'billing@example.com' };

const MAIL = {
  id: `mail_${'0'.repeat(32)}`,
  to: 'ada@example.com',
  subject: 'Hello',
  text: 'Text',
  html: '<p>HTML</p>',
  unsubscribeUrl: undefined,
};

function send(
  mail: Partial<Parameters<SmtpMailer['send']>[0]> = {},
  options: { auth?: string; ms?: number } = {},
) {
  const { auth = '', ms = 5_000 } = options;
  const server: MailConfig['server'] = parseSmtpUrl(`smtp://${auth}127.0.0.1:${smtp.port}`)!;
  return new SmtpMailer({ server, from }).send({ ...MAIL, ...mail }, AbortSignal.timeout(ms));
}

/** The header with its continuation lines joined; `undefined`: there is none. */
function header(name: string): string | undefined {
  const head = smtp.received
    .at(-1)!
    .source.split('\r\n\r\n')[0]!
    .replace(/\r\n[ \t]/g, ' ');
  return new RegExp(`^${name}: (.*)$`, 'im').exec(head)?.[1];
}

describe('a mail', () => {
  test('arrives with text, HTML and the headers of an automatic mail', async () => {
    await send();
    expect(smtp.received).toMatchObject([
      { from: 'billing@example.com', to: ['ada@example.com'], secure: false, login: undefined },
    ]);
    expect(header('message-id')).toBe(`<${MAIL.id}@example.com>`);
    expect(header('auto-submitted')).toBe('auto-generated');
    expect(header('list-unsubscribe')).toBeUndefined();
    expect(header('content-type')).toContain('multipart/alternative');
    expect(smtp.received[0]!.source).toContain('<p>HTML</p>');
  });

  test('of an alert has an unsubscribe link for one click', async () => {
    await send({ unsubscribeUrl: 'https://example.com/unsubscribe/abc' });
    expect(header('list-unsubscribe')).toBe('<https://example.com/unsubscribe/abc>');
    expect(header('list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click');
  });

  test('gets no header and no recipient from its subject line', async () => {
    await send({ subject: 'Hello\r\nBcc: eve@example.com\r\n\r\nbody' });
    expect(smtp.received[0]!.to).toEqual(['ada@example.com']);
    expect(header('bcc')).toBeUndefined();
  });

  test('logs in with the password', async () => {
    await send({}, { auth: 'us%40er:p%3Aw@' });
    expect(smtp.received[0]!.login).toBe('us@er:p:w');
  });
});

describe('STARTTLS', () => {
  const before = tls.getCACertificates();
  afterEach(() => tls.setDefaultCACertificates(before));

  test('is used where the server offers it', async () => {
    smtp.offersTls = true;
    tls.setDefaultCACertificates([...before, CERTIFICATE.toString()]);
    const server = parseSmtpUrl(`smtp://user:pw@localhost:${smtp.port}`)!;
    await new SmtpMailer({ server, from }).send(MAIL, AbortSignal.timeout(5_000));
    expect(smtp.received).toMatchObject([{ secure: true, login: 'user:pw' }]);
  });

  test('does not go on if the certificate is not the one of the server', async () => {
    smtp.offersTls = true;
    tls.setDefaultCACertificates([]);
    await expect(send({}, { auth: 'user:pw@' })).rejects.toThrow();
    expect(smtp.received).toEqual([]);
  });
});

describe('a failure', () => {
  test.each(['refuse recipient', 'refuse content'] as const)('is for good: %s', async (behavior) => {
    smtp.behavior = behavior;
    await expect(send()).rejects.toThrow(MailRefused);
  });

  test.each(['busy', 'refuse sender', 'close after data'] as const)(
    'is not for good: %s',
    async (behavior) => {
      smtp.behavior = behavior;
      await expect(send()).rejects.toThrow(expect.not.objectContaining({ name: 'MailRefused' }));
    },
  );

  test('ends in time though the server does not answer', async () => {
    smtp.behavior = 'hang';
    await expect(send({}, { ms: 300 })).rejects.toThrow();
  });

  test('is described without the address and without what the server wrote', async () => {
    smtp.behavior = 'refuse recipient';
    const error = await send().catch((thrown: unknown) => thrown);
    expect(describeMailError(error)).toBe('EENVELOPE RCPT TO 550');
    smtp.behavior = 'busy';
    const other = await send().catch((thrown: unknown) => thrown);
    expect(describeMailError(other)).toBe('EENVELOPE RCPT TO 450');
  });
});
