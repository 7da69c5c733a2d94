/** What a mail links to that is for its reader alone: to unsubscribe, or to log in. */
import { openLink } from './console-mail-rows.ts';
import type { MailDeps } from './mail-deps.ts';
import type { StoredMail } from './mails.sql.ts';
import type { MailLinks } from './render-mail.ts';
import { unsubscribeUrl } from './unsubscribe-token.ts';

export interface MailLinksDeps extends Pick<MailDeps, 'box'> {
  readonly config: { readonly publicUrl: string; readonly supportEmail: string | undefined };
}

export function linksOf(
  { box, config: { publicUrl, supportEmail } }: MailLinksDeps,
  mail: StoredMail,
): MailLinks {
  const { tenant, address } = mail;
  const isAlert = mail.kind === 'alert' && tenant !== null;
  return {
    publicUrl,
    supportEmail,
    unsubscribeUrl: isAlert ? unsubscribeUrl(box, publicUrl, { tenant, address }) : undefined,
    secret: openLink(box, mail),
  };
}
