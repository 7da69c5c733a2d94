/** Whom mails come from: `Boxoffice <billing@example.com>`, or an address alone. */
import { isMailAddress } from '../../base/tenants/mail-address.ts';

export interface MailSender {
  /** Empty: the address alone. */
  readonly name: string;
  readonly address: string;
}

const NAME_LENGTH_MAX = 100;

/** `undefined` if the text is neither form. */
export function parseMailSender(text: string): MailSender | undefined {
  if (isMailAddress(text)) return { name: '', address: text };
  const { name, address } = /^"?(?<name>[^"<>]*?)"? *<(?<address>[^<>]+)>$/.exec(text)?.groups ?? {};
  if (name === undefined || address === undefined || !isMailAddress(address)) return undefined;
  return /\p{Cc}/u.test(name) || name.length > NAME_LENGTH_MAX ? undefined : { name: name.trim(), address };
}
