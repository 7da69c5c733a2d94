/** Bits of a parameter set of H.264, without the bytes that only prevent start codes (ITU-T H.264, 7.2 and 9.1). */
export class BitReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(escaped: Buffer) {
    const bytes: number[] = [];
    for (const [at, byte] of escaped.entries()) {
      const isEscape = byte === 3 && escaped[at - 1] === 0 && escaped[at - 2] === 0;
      if (!isEscape) bytes.push(byte);
    }
    this.#bytes = Buffer.from(bytes);
  }

  /** Fails with a `RangeError` beyond the end. */
  read(bits: number): number {
    let value = 0;
    for (let count = 0; count < bits; count += 1) {
      const byte = this.#bytes[this.#at >> 3];
      if (byte === undefined) throw new RangeError('the parameter set is too short');
      value = value * 2 + ((byte >> (7 - (this.#at & 7))) & 1);
      this.#at += 1;
    }
    return value;
  }

  /** An unsigned Exp-Golomb number. */
  readUnsigned(): number {
    let zeros = 0;
    while (this.read(1) === 0) {
      zeros += 1;
      if (zeros > 31) throw new RangeError('the number is too long');
    }
    return 2 ** zeros - 1 + this.read(zeros);
  }

  readSigned(): number {
    const value = this.readUnsigned();
    return value % 2 === 0 ? -value / 2 : (value + 1) / 2;
  }
}
