/**
 * Sends the mails that are due.
 *
 * A mail is a row, taken under a lease, and no transaction is open while the mail server is asked. If the process
 * dies, another one sends the mail again after the lease, with the same Message-ID: at least once.
 */
import { renderTenantId } from '../../base/tenants/tenant.ts';
import { retryAfterSeconds, SENDING_SECONDS_MAX } from './mail.ts';
import { isMailAddress } from './mail-address.ts';
import type { MailDeps } from './mail-deps.ts';
import { describeMailError, type Mailer, MailRefused } from './mailer.ts';
import { finishMail, keepMails, putOffMail, type StoredMail, takeMail } from './mails.sql.ts';
import { renderMail } from './render-mail.ts';
import { unsubscribeUrl } from './unsubscribe-token.ts';

/** Rows of one statement. */
const KEPT_AT_ONCE = 100;

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
    const signal = AbortSignal.any([stopping, AbortSignal.timeout(SENDING_SECONDS_MAX * 1000)]);
    await mailer.send(outgoing(deps, mail), signal);
  } catch (error) {
    return noteFailedAttempt(deps, mail, error);
  }
  await finishMail(deps.db, mail, 'sent', null);
  deps.metrics.mails.inc({ outcome: 'sent' });
}

function outgoing({ box, config }: MailDeps, mail: StoredMail) {
  const { publicUrl } = config;
  const link = mail.kind === 'alert' ? unsubscribeUrl(box, publicUrl, mail) : undefined;
  return {
    id: mail.id,
    to: mail.address,
    unsubscribeUrl: link,
    ...renderMail(mail, { publicUrl, unsubscribeUrl: link }),
  };
}

async function noteFailedAttempt(
  { db, log, metrics }: MailDeps,
  mail: StoredMail,
  error: unknown,
): Promise<void> {
  const { attempts } = mail;
  const why = describeMailError(error);
  const seconds = error instanceof MailRefused ? undefined : retryAfterSeconds(attempts);
  if (seconds === undefined) await finishMail(db, mail, 'failed', why);
  else await putOffMail(db, mail, seconds, why);
  metrics.mails.inc({ outcome: seconds === undefined ? 'failed' : 'retried' });
  const what = { mail: mail.id, type: mail.event.type, tenant: renderTenantId(mail.tenant), attempts, why };
  if (seconds === undefined) log.error(what, 'a mail could not be sent');
  else log.warn({ ...what, retryInSeconds: seconds }, 'a mail was not sent; it is tried again');
}

/** Nothing is lost without a mail server: the log names each mail, and the sandbox shows it. */
async function keepDueMails({ db, log, metrics }: MailDeps): Promise<void> {
  for (;;) {
    const kept = await keepMails(db, KEPT_AT_ONCE);
    for (const { id, tenant, type } of kept) {
      log.info({ mail: id, type, tenant: renderTenantId(tenant) }, 'a mail was kept: SMTP_URL is not set');
    }
    metrics.mails.inc({ outcome: 'kept' }, kept.length);
    if (kept.length < KEPT_AT_ONCE) return;
  }
}
