/** A packet of RTP, with `rest` behind its fixed header. */
export function packet({
  sequence = 7,
  time = 0,
  ssrc = 99,
  payloadType = 96,
  first = 0x80,
  rest = [1, 2, 3] as readonly number[],
} = {}): Buffer {
  const header = Buffer.alloc(12);
  header[0] = first;
  header[1] = payloadType;
  header.writeUInt16BE(sequence, 2);
  header.writeUInt32BE(time, 4);
  header.writeUInt32BE(ssrc, 8);
  return Buffer.concat([header, Buffer.from(rest)]);
}
