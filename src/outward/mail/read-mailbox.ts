/** The mails of all tenants, as the sandbox's mailbox shows them. */
import type { Db } from '../../base/db/pool.ts';
import { linksOf, type MailLinksDeps } from './mail-links.ts';
import { findMail, listMails, type StoredMail } from './mails.sql.ts';
import { type RenderedMail, renderMail, subjectOf } from './render-mail.ts';

/** Newest first. */
const SHOWN_MAX = 200;

export interface MailboxEntry extends Pick<StoredMail, 'id' | 'address' | 'state' | 'createdAt' | 'error'> {
  readonly subject: string;
}

export interface ShownMail extends MailboxEntry, RenderedMail {}

export async function listMailbox(db: Db): Promise<MailboxEntry[]> {
  return (await listMails(db, SHOWN_MAX)).map((mail) => entryOf(mail));
}

export async function readMailbox(
  deps: MailLinksDeps & { readonly db: Db },
  id: string,
): Promise<ShownMail | undefined> {
  const mail = await findMail(deps.db, id);
  return mail && { ...entryOf(mail), ...renderMail(mail, linksOf(deps, mail)) };
}

function entryOf(mail: StoredMail): MailboxEntry {
  const { id, address, state, createdAt, error } = mail;
  return { id, address, state, createdAt, error, subject: subjectOf(mail) };
}
