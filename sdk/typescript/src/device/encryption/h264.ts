/**
 * H.264 as encoders give it: NAL units behind start codes (ITU-T H.264, annex B). Packets carry the units alone, so what is
 * encrypted must not look like a start code.
 */

const NON_IDR_SLICE = 1;
const IDR_SLICE = 5;
/** The NAL header, and the beginning of the slice header, which tells receivers which parameter set it needs. */
const CLEAR_SLICE_BYTES = 4;

/** Where each NAL unit begins, behind its start code. */
function findUnits(data: Uint8Array, from = 0): number[] {
  const starts: number[] = [];
  for (let at = from; at + 3 < data.length; at += 1) {
    if (data[at] === 0 && data[at + 1] === 0 && data[at + 2] === 1) starts.push(at + 3);
  }
  return starts;
}

/** How much of a frame stays in the clear: all units before the first slice, and how that begins. `undefined`: there is none. */
export function clearBytesOfH264(data: Uint8Array): number | undefined {
  const slice = findUnits(data).find((at) => [NON_IDR_SLICE, IDR_SLICE].includes(data[at]! & 0x1f));
  return slice === undefined || slice + CLEAR_SLICE_BYTES > data.length
    ? undefined
    : slice + CLEAR_SLICE_BYTES;
}

/** The bytes in the clear without start codes, whose length changes on the way. */
export function withoutStartCodes(clear: Uint8Array): Uint8Array<ArrayBuffer> {
  const starts = findUnits(clear);
  const units = starts.map((start, index) => {
    let end = starts[index + 1] === undefined ? clear.length : starts[index + 1]! - 3;
    // A unit never ends with a zero byte: what precedes the next start code belongs to that.
    while (index + 1 < starts.length && clear[end - 1] === 0) end -= 1;
    return clear.subarray(start, end);
  });
  return new Uint8Array(units.flatMap((unit) => [...unit]));
}

/** Two zero bytes are followed by no byte below 4, but by an inserted 3 before it. `before`: the bytes in the clear. */
export function escapeBytes(bytes: Uint8Array, before: Uint8Array): Uint8Array<ArrayBuffer> {
  const escaped = new Uint8Array(Math.ceil(bytes.length * 1.5) + 1);
  let zeros = zerosAtEnd(before);
  let length = 0;
  for (const byte of bytes) {
    if (zeros >= 2 && byte <= 3) {
      escaped[length++] = 3;
      zeros = 0;
    }
    escaped[length++] = byte;
    zeros = byte === 0 ? zeros + 1 : 0;
  }
  return escaped.slice(0, length);
}

/** The reverse of `escapeBytes()`. */
export function unescapeBytes(bytes: Uint8Array, before: Uint8Array): Uint8Array<ArrayBuffer> {
  const plain = new Uint8Array(bytes.length);
  let zeros = zerosAtEnd(before);
  let length = 0;
  for (const byte of bytes) {
    const isInserted = zeros >= 2 && byte === 3;
    zeros = byte === 0 ? zeros + 1 : 0;
    if (!isInserted) plain[length++] = byte;
  }
  return plain.slice(0, length);
}

function zerosAtEnd(bytes: Uint8Array): number {
  let zeros = 0;
  while (zeros < 2 && bytes.at(-1 - zeros) === 0) zeros += 1;
  return zeros;
}
