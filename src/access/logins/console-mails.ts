/** The mails of the console, and what takes them. */
import type { Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { MemberRole } from '../rights/abilities.ts';

export interface LoginLinkMail {
  readonly type: 'login_link';
  readonly to: string;
  /** The secret of the link. It is never stored as it is. */
  readonly secret: string;
}

/** Has no link that logs in: the mail may be read much later. */
export interface InvitationMail {
  readonly type: 'invitation';
  readonly to: string;
  readonly tenant: TenantId;
  readonly role: MemberRole;
  /** The address of the member who invites, if it is proved to be theirs. */
  readonly by: string | undefined;
}

export type ConsoleMail = LoginLinkMail | InvitationMail;

export interface ConsoleMails {
  /** Write the mail in the transaction that makes what it tells about. If it is not wanted, only the work is done. */
  write(tx: Tx, mail: ConsoleMail, options?: { readonly isWanted: boolean }): Promise<void>;
  /** Call it after the commit, so that the mail is sent at once. Otherwise it waits for a second. */
  wake(): void;
}
