/**
 * Sends the mails that are due.
 *
 * A mail is a row, taken under a lease, and no transaction is open while the mail server is asked. If the process
 * dies, another one sends the mail again after the lease, with the same Message-ID: at least once.
 */

import { isMailAddress } from '../../base/tenants/mail-address.ts';
import { renderTenantId } from '../../base/tenants/tenant.ts';
import { isConsoleType, SENDING_SECONDS_MAX } from './mail.ts';
import type { MailDeps } from './mail-deps.ts';
import { linksOf } from './mail-links.ts';
import { describeMailError, type Mailer, MailRefused } from './mailer.ts';
import {
  expireMails,
  finishMail,
  type KeptMail,
  keepMails,
  putOffMail,
  type StoredMail,
  takeMail,
} from './mails.sql.ts';
import { readMailbox } from './read-mailbox.ts';
import { renderMail } from './render-mail.ts';
import { retryAfterSeconds } from './retry-schedule.ts';

/** Rows of one statement. */
const AT_ONCE = 100;

/** Sends until nothing is due, or `stopping` is aborted. */
export async function sendMails(deps: MailDeps, stopping: AbortSignal): Promise<void> {
  const { mailer } = deps;
  if (!mailer) return keepDueMails(deps);
  while (!stopping.aborted) {
    const mail = await takeMail(deps.db);
    if (!mail) return;
    await sendMail(deps, mailer, mail, stopping);
  }
}

async function sendMail(
  deps: MailDeps,
  mailer: Mailer,
  mail: StoredMail,
  stopping: AbortSignal,
): Promise<void> {
  try {
    if (!isMailAddress(mail.address)) throw new MailRefused('not a mail address');
    // Nothing is sent once the link has expired.
    const seconds = Math.max(0, Math.min(SENDING_SECONDS_MAX, mail.linkSeconds ?? SENDING_SECONDS_MAX));
    const signal = AbortSignal.any([stopping, AbortSignal.timeout(Math.floor(seconds * 1000))]);
    await mailer.send(outgoing(deps, mail), signal);
  } catch (error) {
    return noteFailedAttempt(deps, mail, error);
  }
  await finishMail(deps.db, mail, 'sent', null);
  deps.metrics.mails.inc({ outcome: 'sent' });
}

function outgoing(deps: MailDeps, mail: StoredMail) {
  const links = linksOf(deps, mail);
  const { id, address: to } = mail;
  return { id, to, unsubscribeUrl: links.unsubscribeUrl, ...renderMail(mail, links) };
}

async function noteFailedAttempt(
  { db, log, metrics }: MailDeps,
  mail: StoredMail,
  error: unknown,
): Promise<void> {
  const { attempts } = mail;
  const why = describeMailError(error);
  const hasLink = mail.linkSeconds !== null;
  const seconds = error instanceof MailRefused ? undefined : retryAfterSeconds(attempts, { hasLink });
  if (seconds === undefined) await finishMail(db, mail, 'failed', why);
  else await putOffMail(db, mail, seconds, why);
  metrics.mails.inc({ outcome: seconds === undefined ? 'failed' : 'retried' });
  const what = { mail: mail.id, type: mail.event.type, ...ofTenant(mail), attempts, why };
  if (seconds === undefined) log.error(what, 'a mail could not be sent');
  else log.warn({ ...what, retryInSeconds: seconds }, 'a mail was not sent; it is tried again');
}

/** Nothing is lost without a mail server: the log names each mail, and the sandbox shows it. */
async function keepDueMails(deps: MailDeps): Promise<void> {
  const { mailsShown } = deps.config;
  for (;;) {
    const options = { limit: AT_ONCE, keepsSecrets: mailsShown !== undefined };
    const kept = await keepMails(deps.db, options);
    for (const mail of kept) {
      const { id, type } = mail;
      if (mailsShown === 'in the log' && isConsoleType(type)) await logMail(deps, id);
      else deps.log.info({ mail: id, type, ...ofTenant(mail) }, 'a mail was kept: SMTP_URL is not set');
    }
    deps.metrics.mails.inc({ outcome: 'kept' }, kept.length);
    if (kept.length < AT_ONCE) return;
  }
}

/** Without a mailbox, a developer finds the link to log in here. Never in production. */
async function logMail(deps: MailDeps, id: string): Promise<void> {
  const mail = await readMailbox(deps, id);
  if (!mail) return;
  const { address: to, subject, text } = mail;
  deps.log.info({ mail: id, to, subject, text }, 'there is no mail server: this is the mail');
}

/** Erases the secrets of links that have expired, sent or not. */
export async function expireLinks({ db, log, metrics }: MailDeps): Promise<void> {
  for (;;) {
    const expired = await expireMails(db, AT_ONCE);
    for (const { id } of expired.filter(({ wasWaiting }) => wasWaiting)) {
      metrics.mails.inc({ outcome: 'expired' });
      log.error({ mail: id }, 'a mail was not sent before its link expired');
    }
    if (expired.length < AT_ONCE) return;
  }
}

function ofTenant({ tenant }: Pick<KeptMail, 'tenant'>): { tenant?: string } {
  return tenant === null ? {} : { tenant: renderTenantId(tenant) };
}
