/** Sends one mail to the mail server. */
import type nodemailer from 'nodemailer';
import { codeOf } from '../../base/lib/error-code.ts';
import type { MailSender } from './mail-sender.ts';
import { requiresTls, type SmtpServer } from './smtp-server.ts';

export interface MailConfig {
  readonly server: SmtpServer;
  readonly from: MailSender;
}

export interface OutgoingMail {
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** For alerts. */
  readonly unsubscribeUrl: string | undefined;
}

export interface Mailer {
  /**
   * Resolves once the server has taken responsibility for the mail. Throws `MailRefused` if it never will.
   * After any other error, the server may have taken it or not.
   */
  send(mail: OutgoingMail, signal: AbortSignal): Promise<void>;
}

/** The message holds no address and nothing that the server wrote, so it may be logged. */
export class MailRefused extends Error {
  override readonly name = 'MailRefused';
}

const CONNECTION_MS_MAX = 10_000;
const SILENCE_MS_MAX = 20_000;

/** A connection for each mail: they are few, and an idle connection may be lost without notice. */
export class SmtpMailer implements Mailer {
  readonly #config: MailConfig;
  #transport: Promise<Transport> | undefined;

  constructor(config: MailConfig) {
    this.#config = config;
  }

  async send(mail: OutgoingMail, signal: AbortSignal): Promise<void> {
    this.#transport ??= openTransport(this.#config.server);
    const transport = await this.#transport;
    const { from } = this.#config;
    try {
      await transport.sendMail({
        from: { name: from.name, address: from.address },
        to: { name: '', address: mail.to },
        envelope: { from: from.address, to: [mail.to] },
        // The same for each attempt, so that the second copy of a mail can be recognized.
        messageId: `<${mail.id}@${from.address.slice(from.address.lastIndexOf('@') + 1)}>`,
        subject: mail.subject,
        text: mail.text,
        html: mail.html,
        headers: headersOf(mail),
        // Nothing in a mail may make this process read a file or a page.
        disableFileAccess: true,
        disableUrlAccess: true,
        signal,
      } as MailOptions);
    } catch (error) {
      throw isRefusal(error) ? new MailRefused(describeMailError(error)) : error;
    }
  }
}

type Transport = ReturnType<typeof nodemailer.createTransport>;
type MailOptions = Parameters<Transport['sendMail']>[0];

/** Loaded with the first mail: a service that sends none does without its files. */
async function openTransport(server: SmtpServer): Promise<Transport> {
  const { default: mail } = await import('nodemailer');
  const { host, port, secure, auth } = server;
  return mail.createTransport({
    host,
    port,
    secure,
    requireTLS: requiresTls(server),
    ...(auth && { auth: { ...auth } }),
    connectionTimeout: CONNECTION_MS_MAX,
    greetingTimeout: CONNECTION_MS_MAX,
    socketTimeout: SILENCE_MS_MAX,
    logger: false,
  });
}

/** Source: RFC 3834 for the first, RFC 2369 and RFC 8058 for the others. */
function headersOf({ unsubscribeUrl }: OutgoingMail): Record<string, string> {
  return {
    'Auto-Submitted': 'auto-generated',
    ...(unsubscribeUrl !== undefined && {
      'List-Unsubscribe': `<${unsubscribeUrl}>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    }),
  };
}

interface SmtpError {
  readonly command?: string;
  readonly responseCode?: number;
}

/** Whether the server refused this recipient or this mail for good. Other errors may be of our configuration. */
function isRefusal(error: unknown): boolean {
  const { command, responseCode = 0 } = error as SmtpError;
  return responseCode >= 500 && (command === 'RCPT TO' || command === 'DATA');
}

/** What may be logged of an error: what the server wrote may hold an address. */
export function describeMailError(error: unknown): string {
  if (error instanceof MailRefused) return error.message;
  const { command, responseCode } = error as SmtpError;
  const parts = [codeOf(error), command, responseCode].filter((part) => part !== undefined);
  return parts.length > 0 ? parts.join(' ') : 'unknown error';
}
