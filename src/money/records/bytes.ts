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
    const bytes = written.written();
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
    const value = this.number();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  raw(length: number): Buffer {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new RangeError('the bytes end too early');
    const bytes = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return bytes;
  }

  text(): string {
    return this.raw(this.number()).toString('utf8');
  }

  part(): ByteReader {
    return new ByteReader(this.raw(this.number()));
  }
}
