/** Without a mail server: mails are written to the log, so that a clone that was just started can be logged in to. */
import type { Logger } from 'pino';
import type { ConsoleMails } from './login-mail.ts';

/** `showsText`: never in production, since the text of a mail logs in. */
export function loggedMails(log: Logger, showsText: boolean): ConsoleMails {
  return {
    send: ({ to, subject, text }) => {
      if (showsText) log.info({ to, subject, text }, 'there is no mail server: this is the mail');
      else log.warn({ subject }, 'a mail was not sent: there is no mail server');
    },
  };
}
