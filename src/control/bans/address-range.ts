/** Address ranges that can be banned. */
import ipaddr from 'ipaddr.js';

/** The shortest prefixes, so that one ban cannot cover a large part of the internet. */
const IPV4_BITS_MIN = 8;
const IPV6_BITS_MIN = 16;

/** Bans of ranges and addresses that are active at once in a tenant, because every join is checked against each of them. */
export const ADDRESS_BANS_MAX = 1_000;

const RANGE = /^([0-9a-f.:]+)\/(0|[1-9][0-9]{0,2})$/i;
/** Up to four digits each, because the parser accepts any number. */
const GROUPS = /^(?:[0-9a-f]{0,4}:)+[0-9a-f]{0,4}$/i;

/**
 * A range in its canonical spelling, the same as that of PostgreSQL's `cidr`; `undefined` for text that is
 * not a range, is too wide, or has bits set beyond its prefix.
 *
 * IPv4-mapped and IPv4-compatible ranges (`::ffff:192.0.2.0/120`, `::192.0.2.0/120`) are refused: such
 * clients are known by their IPv4 addresses, which these ranges would never match.
 */
export function parseAddressRange(text: string): string | undefined {
  const [, address = '', digits = ''] = RANGE.exec(text) ?? [];
  const bits = Number(digits);
  const network = ipaddr.IPv4.isValidFourPartDecimal(address)
    ? networkOfIpv4(address, bits)
    : networkOfIpv6(address, bits);
  // The network lacks any bits beyond the prefix.
  return network && network.toString() === ipaddr.parse(address).toString()
    ? `${network}/${bits}`
    : undefined;
}

/** The bits of a canonical range, for hashing: hex digits of the whole address, then `/` and the prefix. */
export function renderNetwork(range: string): string {
  const [network = '', bits] = range.split('/');
  return `${Buffer.from(ipaddr.parse(network).toByteArray()).toString('hex')}/${bits}`;
}

function networkOfIpv4(address: string, bits: number): ipaddr.IPv4 | undefined {
  if (bits < IPV4_BITS_MIN || bits > 32) return undefined;
  return ipaddr.IPv4.networkAddressFromCIDR(`${address}/${bits}`);
}

function networkOfIpv6(address: string, bits: number): ipaddr.IPv6 | undefined {
  if (!GROUPS.test(address) || !ipaddr.IPv6.isValid(address)) return undefined;
  if (bits < IPV6_BITS_MIN || bits > 128) return undefined;
  const network = ipaddr.IPv6.networkAddressFromCIDR(`${address}/${bits}`);
  return isIpv4InIpv6(network) ? undefined : network;
}

/** IPv4-mapped (`::ffff:0:0/96`), or the older IPv4-compatible form (`::/96` except `::1`). */
function isIpv4InIpv6({ parts }: ipaddr.IPv6): boolean {
  const [sixth, seventh] = parts.slice(5);
  return (
    parts.slice(0, 5).every((part) => part === 0) && (sixth === 0xffff || (sixth === 0 && seventh !== 0))
  );
}
