/** How mail is sent, and where people write to. */
import { isMailAddress } from '../base/tenants/mail-address.ts';
import { parseMailSender } from '../outward/mail/mail-sender.ts';
import type { MailConfig } from '../outward/mail/mailer.ts';
import { parseSmtpUrl } from '../outward/mail/smtp-server.ts';
import { ConfigError, type Env, wrong } from './config-error.ts';

export function readMail(env: Env): MailConfig | undefined {
  if (!env.SMTP_URL) return undefined;
  const server = parseSmtpUrl(env.SMTP_URL);
  // The value may hold a password, so it is not repeated.
  if (!server) {
    throw new ConfigError(
      'SMTP_URL must be smtp://user:password@host:587 or smtps://user:password@host:465, ' +
        'with the user and password percent-encoded, or without both',
    );
  }
  if (!env.MAIL_FROM) throw new ConfigError('MAIL_FROM must be set when SMTP_URL is');
  const from = parseMailSender(env.MAIL_FROM);
  if (!from) throw wrong('MAIL_FROM', 'an address, or Name <address>', env.MAIL_FROM);
  return { server, from };
}

export function readSupportEmail(env: Env): string | undefined {
  const text = env.SUPPORT_EMAIL;
  if (!text) return undefined;
  if (!isMailAddress(text)) throw wrong('SUPPORT_EMAIL', 'a mail address', text);
  return text;
}
