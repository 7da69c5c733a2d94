/** UUIDs of one version, without the six bits that all of them have: 15 bytes and two bits each. Source: RFC 9562, section 4. */

const UUID_BYTES = 16;
const SHORT_BYTES = 15;
/** The two bits of so many UUIDs are one byte. */
const TO_A_BYTE = 4;
/** The bytes with the version and the variant. */
const [VERSION_AT, VARIANT_AT] = [6, 8];
const VARIANT = 0b10_000000;

/** The version, 15 bytes of each UUID, and then its other two bits. `undefined`: they are of several versions. */
export function shortenUuids(uuids: Buffer): Buffer | undefined {
  const count = uuids.length / UUID_BYTES;
  if (count === 0) return undefined;
  const version = uuids[VERSION_AT]! & 0xf0;
  const ends = 1 + count * SHORT_BYTES;
  const short = Buffer.alloc(ends + Math.ceil(count / TO_A_BYTE));
  short[0] = version;
  for (let at = 0; at < count; at += 1) {
    const uuid = uuids.subarray(at * UUID_BYTES, (at + 1) * UUID_BYTES);
    const [versioned, variant] = [uuid[VERSION_AT]!, uuid[VARIANT_AT]!];
    if ((versioned & 0xf0) !== version || (variant & 0xc0) !== VARIANT) return undefined;
    const to = 1 + at * SHORT_BYTES;
    uuid.copy(short, to, 0, VERSION_AT);
    short[to + VERSION_AT] = ((versioned & 0x0f) << 4) | ((variant & 0x3f) >> 2);
    short[to + VERSION_AT + 1] = uuid[VERSION_AT + 1]!;
    uuid.copy(short, to + VARIANT_AT, VARIANT_AT + 1);
    short[ends + Math.floor(at / TO_A_BYTE)]! |= (variant & 0b11) << (2 * (at % TO_A_BYTE));
  }
  return short;
}

/** What was shortened. */
export function lengthenUuids(short: Buffer): Buffer {
  const count = Math.floor(((short.length - 1) * TO_A_BYTE) / (SHORT_BYTES * TO_A_BYTE + 1));
  const ends = 1 + count * SHORT_BYTES;
  const uuids = Buffer.allocUnsafe(count * UUID_BYTES);
  for (let at = 0; at < count; at += 1) {
    const own = short.subarray(1 + at * SHORT_BYTES, 1 + (at + 1) * SHORT_BYTES);
    const to = at * UUID_BYTES;
    const both = own[VERSION_AT]!;
    const end = (short[ends + Math.floor(at / TO_A_BYTE)]! >> (2 * (at % TO_A_BYTE))) & 0b11;
    own.copy(uuids, to, 0, VERSION_AT);
    uuids[to + VERSION_AT] = short[0]! | (both >> 4);
    uuids[to + VERSION_AT + 1] = own[VERSION_AT + 1]!;
    uuids[to + VARIANT_AT] = VARIANT | ((both & 0x0f) << 2) | end;
    own.copy(uuids, to + VARIANT_AT + 1, VARIANT_AT);
  }
  return uuids;
}
