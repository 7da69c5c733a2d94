/** Addresses of clients, and ranges of them. */
import ipaddr from 'ipaddr.js';

/**
 * An address in its one canonical spelling; `undefined` for text that is none.
 *
 * IPv4 in IPv6's clothes (`::ffff:192.0.2.1`) is the IPv4 address. A zone (`%eth0`) says nothing to
 * anybody else and is dropped, and so is the port that some proxies add.
 */
export function parseAddress(text: string): string | undefined {
  const [bare = ''] = withoutPort(text).split('%');
  if (!ipaddr.IPv4.isValidFourPartDecimal(bare) && !ipaddr.IPv6.isValid(bare)) return undefined;
  return ipaddr.process(bare).toString();
}

/** `[2001:db8::1]:443` and `192.0.2.1:443` without what is not the address. */
function withoutPort(text: string): string {
  return /^\[(.*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
}

/**
 * What one client may be expected to control, as rate limits count it: an IPv4 address, or the /64 of
 * an IPv6 address. Text that is no address stands for itself.
 */
export function networkOf(address: string): string {
  const canonical = parseAddress(address);
  if (canonical === undefined) return withoutPort(address);
  const parsed = ipaddr.parse(canonical);
  if (parsed.kind() === 'ipv4') return canonical;
  const groups = (parsed as ipaddr.IPv6).parts.slice(0, 4).map((group) => group.toString(16));
  return `${groups.join(':')}::/64`;
}
