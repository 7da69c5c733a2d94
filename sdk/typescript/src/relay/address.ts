/** IP addresses as bytes. */
import { isIP } from 'node:net';

/** An IPv4-mapped IPv6 address is the IPv4 address; `undefined` for text that is no address. */
export function readAddress(text: string): Uint8Array | undefined {
  const family = isIP(text);
  if (family === 0) return undefined;
  if (family === 4) return Uint8Array.from(text.split('.'), Number);
  const bytes = readIpv6(text);
  const isMapped = bytes.subarray(0, 12).every((byte, at) => byte === (at < 10 ? 0 : 0xff));
  return isMapped ? bytes.subarray(12) : bytes;
}

/** `text` is valid. A zone does not count. */
function readIpv6(text: string): Uint8Array {
  const [address = ''] = text.split('%');
  // The last four bytes may be written as in IPv4.
  const colon = address.lastIndexOf(':') + 1;
  const last = address.slice(colon);
  const isDotted = last.includes('.');
  const end = isDotted ? last.split('.').map(Number) : [];
  const [head = [], tail] = (isDotted ? address.slice(0, colon) : address).split('::').map(readGroups);
  const gap = Array<number>(16 - head.length - (tail?.length ?? 0) - end.length).fill(0);
  return Uint8Array.from([...head, ...gap, ...(tail ?? []), ...end] as number[]);
}

function readGroups(text: string): number[] {
  return text
    .split(':')
    .filter((group) => group !== '')
    .flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff]);
}

/** The first `bits` bits, and zeros after them, in hex; `undefined` if the address has fewer bits. */
export function networkOf(address: Uint8Array, bits: number): string | undefined {
  if (bits > address.length * 8) return undefined;
  const network = address.map((byte, at) => byte & (0xff00 >> Math.min(8, Math.max(0, bits - at * 8))));
  return Buffer.from(network).toString('hex');
}
