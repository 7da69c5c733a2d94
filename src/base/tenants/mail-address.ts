/** Addresses of mail: one rule for signups, members, settings, the sender, and for what was stored before. */
import { EMAIL_LENGTH_MAX } from './tenant.ts';

/** RFC 5321, 4.5.3.1.1. */
const LOCAL_LENGTH_MAX = 64;
/**
 * RFC 5322's atoms, without what mail servers took for a route, a program or a file: no `!`, `%` or `|`, and neither a
 * slash nor a hyphen at the beginning. Quotes are in no atom.
 */
const LOCAL = /^(?![/-])[a-z0-9#$&'*+/=?^_`{}~-]+(?:\.[a-z0-9#$&'*+/=?^_`{}~-]+)*$/i;
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;

/**
 * Whether mail can be sent to this text: ASCII, one `@`, a domain with a dot, and nothing that could end a
 * header line, add a recipient, or make a mail server do anything but deliver it to the domain.
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
