/** The mails of the console, and what sends them. */
import type { TenantId } from '../../base/tenants/tenant.ts';
import { LINK_MINUTES } from './session.ts';

export interface ConsoleMail {
  /** `undefined`: a log-in, whatever tenants the address has. */
  readonly tenant: TenantId | undefined;
  readonly to: string;
  readonly subject: string;
  /** Plain. */
  readonly text: string;
}

export interface ConsoleMails {
  /** Returns at once. Call it after the commit that the mail tells about. */
  send(mail: ConsoleMail): void;
}

export function loginMail(to: string, link: string): ConsoleMail {
  return {
    tenant: undefined,
    to,
    subject: 'Log in to Boxoffice',
    text:
      `Open this link to log in:\n\n${link}\n\nIt works once, within ${LINK_MINUTES} minutes.\n` +
      'If you did not ask for it, ignore this mail: nobody is logged in.\n',
  };
}

/** Has no link that logs in: the mail may be read much later. */
export function invitationMail(
  tenant: TenantId,
  to: string,
  { tenantName, role, loginUrl }: { tenantName: string; role: string; loginUrl: string },
): ConsoleMail {
  return {
    tenant,
    to,
    subject: 'You are invited to Boxoffice',
    text:
      `You are now a member of the tenant "${oneLine(tenantName)}", as ${role}.\n\n` +
      `To log in, ask for a link with this address:\n\n${loginUrl}\n`,
  };
}

/** A name cannot begin a paragraph of its own, or turn the direction of the text. */
function oneLine(name: string): string {
  return name.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');
}
