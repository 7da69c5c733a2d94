/** Client addresses, as rate limits count them. */
import { isIPv6 } from 'node:net';

/**
 * What one client may be expected to control: an IPv4 address, or the /64 of an IPv6 address.
 *
 * IPv4 in IPv6's clothes (`::ffff:192.0.2.1`) is the same client as without, and so is an address
 * with the port that some proxies add. Text that is no address stands for itself.
 */
export function networkOf(address: string): string {
  const [bare = ''] = withoutPort(address).split('%');
  if (!isIPv6(bare)) return bare;
  const groups = ipv6Groups(bare);
  return ipv4Within(groups) ?? `${groups.slice(0, 4).join(':')}::/64`;
}

/** `[2001:db8::1]:443` and `192.0.2.1:443` without what is not the address. */
function withoutPort(text: string): string {
  return /^\[(.*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
}

/** The eight groups of an IPv6 address, in hex without leading zeros. */
function ipv6Groups(address: string): string[] {
  // The URL parser writes every spelling in the one canonical way, dotted quads included.
  const canonical = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const [head = '', tail] = canonical.split('::');
  const before = head ? head.split(':') : [];
  const after = tail ? tail.split(':') : [];
  return [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after];
}

/** The IPv4 address that an address of `::ffff:0:0/96` stands for. */
function ipv4Within(groups: readonly string[]): string | undefined {
  if (groups.slice(0, 6).join(':') !== '0:0:0:0:0:ffff') return undefined;
  return groups
    .slice(6)
    .map((group) => Number.parseInt(group, 16))
    .flatMap((group) => [group >> 8, group & 0xff])
    .join('.');
}
