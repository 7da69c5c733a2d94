/** Whole numbers of any size as few bytes (LEB128), one after the other. */

const FIRST_BYTES = 1024;

export class ByteWriter {
  #bytes = Buffer.allocUnsafe(FIRST_BYTES);
  #at = 0;

  /** A whole number from 0 to 2^53 - 1. */
  number(value: number): void {
    this.#reserve(8);
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[this.#at++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[this.#at++] = rest;
  }

  /** A whole number of either sign, with one bit less: small ones are short. */
  signed(value: number): void {
    this.number(value < 0 ? -2 * value - 1 : 2 * value);
  }

  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  /** UTF-8 after its length. */
  text(text: string): void {
    const bytes = Buffer.from(text);
    this.number(bytes.length);
    this.raw(bytes);
  }

  /** What another writer has, after its length. */
  part(written: ByteWriter): void {
    this.#lengthAnd(written.written());
  }

  /** The numbers that another writer has, in planes, after their length. */
  planes(written: ByteWriter): void {
    this.#lengthAnd(toPlanes(written.written()));
  }

  #lengthAnd(bytes: Buffer): void {
    this.number(bytes.length);
    this.raw(bytes);
  }

  /** A view: writing on may change it. */
  written(): Buffer {
    return this.#bytes.subarray(0, this.#at);
  }

  #reserve(more: number): void {
    if (this.#at + more <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(2 * (this.#at + more));
    larger.set(this.written());
    this.#bytes = larger;
  }
}

/** Reads what a `ByteWriter` wrote, in the same order. */
export class ByteReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  number(): number {
    let value = 0;
    let scale = 1;
    for (;;) {
      if (this.isAtEnd) throw new RangeError('the bytes end within a number');
      const byte = this.#bytes[this.#at++]!;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 0x80;
    }
  }

  signed(): number {
    return toSigned(this.number());
  }

  raw(length: number): Buffer {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new RangeError('the bytes end too early');
    const bytes = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return bytes;
  }

  /** All that is left. */
  rest(): Buffer {
    return this.raw(this.#bytes.length - this.#at);
  }

  text(): string {
    return this.raw(this.number()).toString('utf8');
  }

  part(): ByteReader {
    return new ByteReader(this.raw(this.number()));
  }

  planes(): PlaneReader {
    return new PlaneReader(this.raw(this.number()));
  }
}

/** The first bytes of all numbers, then their second bytes, and so on: bytes of one kind compress well together. */
function toPlanes(numbers: Buffer): Buffer {
  const sizes: number[] = [];
  for (let at = 0, plane = 0; at < numbers.length; at += 1) {
    sizes[plane] = (sizes[plane] ?? 0) + 1;
    plane = numbers[at]! < 0x80 ? 0 : plane + 1;
  }
  const places = startsOf(sizes);
  const planes = Buffer.allocUnsafe(numbers.length);
  for (let at = 0, plane = 0; at < numbers.length; at += 1) {
    planes[places[plane]!++] = numbers[at]!;
    plane = numbers[at]! < 0x80 ? 0 : plane + 1;
  }
  return planes;
}

/** Where each plane begins. A number has its last byte, below 0x80, in one of them, and a byte in each plane before. */
function findPlanes(planes: Buffer): number[] {
  let size = 0;
  for (let at = 0; at < planes.length; at += 1) if (planes[at]! < 0x80) size += 1;
  const sizes: number[] = [];
  for (let start = 0; size > 0; start += sizes.at(-1)!) {
    sizes.push(size);
    size = 0;
    for (let at = start; at < start + sizes.at(-1)!; at += 1) if (planes[at]! >= 0x80) size += 1;
  }
  return startsOf(sizes);
}

function startsOf(sizes: readonly number[]): number[] {
  let end = 0;
  return sizes.map((size) => {
    end += size;
    return end - size;
  });
}

/** Reads numbers that were written in planes, in their order. */
export class PlaneReader {
  readonly #bytes: Buffer;
  /** The next byte of each plane. */
  readonly #places: number[];

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#places = findPlanes(bytes);
  }

  number(): number {
    let value = 0;
    let scale = 1;
    for (let plane = 0; ; plane += 1) {
      const byte = this.#bytes[this.#places[plane]!++];
      if (byte === undefined) throw new RangeError('the bytes end within a number');
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 0x80;
    }
  }

  signed(): number {
    return toSigned(this.number());
  }
}

/** The inverse of what `signed()` writes. */
function toSigned(value: number): number {
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}
