/**
 * Sends the mails of the console at once, and from memory.
 *
 * Unlike alerts, they are no rows: a link to log in is a secret that lasts minutes, and the person waits for it. If it
 * does not arrive, the person asks for another one.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { renderDocument } from '@boxoffice/pages/document';
import { html } from '@boxoffice/pages/html';
import type { Logger } from 'pino';
import type { ConsoleMail, ConsoleMails } from '../../access/sessions/login-mail.ts';
import { newId } from '../../base/lib/ids.ts';
import { SENDING_SECONDS_MAX } from './mail.ts';
import { cleanText } from './mail-text.ts';
import { describeMailError, type Mailer, MailRefused } from './mailer.ts';

/** Before each further attempt. */
const RETRY_SECONDS = [5, 30];
/** Mails that are being sent at once, in this process. */
const SENDING_MAX = 100;

export function sentConsoleMails(mailer: Mailer, log: Logger, retrySeconds = RETRY_SECONDS): ConsoleMails {
  let sending = 0;
  return {
    send: (mail) => {
      if (sending >= SENDING_MAX) {
        log.error('a mail of the console was not sent: too many are being sent');
        return;
      }
      sending += 1;
      void sendWithRetries(mailer, log, mail, retrySeconds).finally(() => {
        sending -= 1;
      });
    },
  };
}

async function sendWithRetries(
  mailer: Mailer,
  log: Logger,
  mail: ConsoleMail,
  retrySeconds: readonly number[],
): Promise<void> {
  const outgoing = {
    id: newId('mail'),
    to: mail.to,
    subject: cleanText(mail.subject),
    text: mail.text,
    html: renderHtml(mail),
    unsubscribeUrl: undefined,
  };
  for (const seconds of [...retrySeconds, undefined]) {
    try {
      await mailer.send(outgoing, AbortSignal.timeout(SENDING_SECONDS_MAX * 1000));
      return;
    } catch (error) {
      const why = describeMailError(error);
      if (seconds === undefined || error instanceof MailRefused) {
        log.error({ mail: outgoing.id, why }, 'a mail of the console could not be sent');
        return;
      }
      log.warn({ mail: outgoing.id, why, retryInSeconds: seconds }, 'a mail of the console was not sent');
      await wait(seconds * 1000, undefined, { ref: false });
    }
  }
}

function renderHtml({ subject, text }: ConsoleMail): string {
  const paragraphs = text.trim().split(/\n\n+/);
  return renderDocument({
    title: subject,
    head: undefined,
    body: html`${paragraphs.map((each) =>
      /^https?:\/\/\S+$/.test(each) ? html`<p><a href="${each}">${each}</a></p>\n` : html`<p>${each}</p>\n`,
    )}`,
  });
}
