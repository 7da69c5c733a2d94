/** Addresses of mail: one pattern for settings, for the sender, and for what was stored before. */
import { EMAIL_LENGTH_MAX } from '../../base/tenants/tenant.ts';

/** RFC 5321, 4.5.3.1.1. */
const LOCAL_LENGTH_MAX = 64;
const LOCAL = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/i;
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;

/**
 * Whether mail can be sent to this text: ASCII, one `@`, a domain with a dot, and nothing that could end a
 * header line or add a recipient.
 */
export function isMailAddress(text: string): boolean {
  if (text.length > EMAIL_LENGTH_MAX) return false;
  const at = text.lastIndexOf('@');
  const labels = text.slice(at + 1).split('.');
  if (at < 1 || at > LOCAL_LENGTH_MAX || labels.length < 2) return false;
  return LOCAL.test(text.slice(0, at)) && labels.every((label) => LABEL.test(label));
}

/** Addresses that differ only in case are one address here. */
export function normalAddress(address: string): string {
  return address.toLowerCase();
}
