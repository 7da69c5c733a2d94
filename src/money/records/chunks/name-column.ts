/**
 * The rooms and participants of a chunk: each text once, each pair of them once, and for each record the index of its
 * pair. So a person is erased from thousands of records by rewriting one text.
 */
import { ByteReader, ByteWriter } from '../bytes.ts';

/** As reported. */
export interface Names {
  readonly room: string | null;
  readonly participant: string | null;
}

/** A pair by the indexes of its texts. */
type Pair = readonly [room: number, participant: number];

const NONE = 0;

export class NameColumn {
  readonly #rooms: Texts;
  readonly #participants: Texts;
  readonly #pairs: Pair[] = [];
  /** By record. */
  readonly #pairOf: number[] = [];

  private constructor(rooms = new Texts(), participants = new Texts()) {
    this.#rooms = rooms;
    this.#participants = participants;
  }

  static of(names: readonly Names[]): NameColumn {
    const column = new NameColumn();
    const indexes = new Map<string, number>();
    for (const { room, participant } of names) {
      const pair: Pair = [column.#rooms.indexOf(room), column.#participants.indexOf(participant)];
      const key = pair.join(' ');
      let index = indexes.get(key);
      if (index === undefined) {
        index = column.#pairs.push(pair) - 1;
        indexes.set(key, index);
      }
      column.#pairOf.push(index);
    }
    return column;
  }

  static unpack(packed: Buffer): NameColumn {
    const parts = new ByteReader(packed);
    const column = new NameColumn(Texts.read(parts.part()), Texts.read(parts.part()));
    const [pairs, records] = [parts.part(), parts.part()];
    while (!pairs.isAtEnd) column.#pairs.push([pairs.number(), pairs.number()]);
    while (!records.isAtEnd) column.#pairOf.push(records.number());
    return column;
  }

  pack(): Buffer {
    const pairs = new ByteWriter();
    for (const [room, participant] of this.#pairs) {
      pairs.number(room);
      pairs.number(participant);
    }
    const records = new ByteWriter();
    for (const pair of this.#pairOf) records.number(pair);
    const packed = new ByteWriter();
    for (const part of [this.#rooms.write(), this.#participants.write(), pairs, records]) packed.part(part);
    return packed.written();
  }

  /** Names of the record at `row`. */
  at(row: number): Names {
    const [room, participant] = this.#pairs[this.#pairOf[row]!]!;
    return { room: this.#rooms.at(room), participant: this.#participants.at(participant) };
  }

  /** Puts `instead` in place of these participants. Returns how many records had each of them. */
  replaceParticipants(participants: readonly string[], instead: string): Map<string, number> {
    const replaced = new Map<string, number>();
    for (const name of participants) {
      const index = this.#participants.find(name);
      if (index === undefined) continue;
      replaced.set(name, this.#pairOf.filter((pair) => this.#pairs[pair]![1] === index).length);
      this.#participants.replace(index, instead);
    }
    return replaced;
  }
}

/** Texts by index; 0 stands for none. */
class Texts {
  readonly #texts: (string | null)[] = [null];
  readonly #indexes = new Map<string | null, number>([[null, NONE]]);

  static read(from: ByteReader): Texts {
    const texts = new Texts();
    while (!from.isAtEnd) texts.#add(from.text());
    return texts;
  }

  write(): ByteWriter {
    const written = new ByteWriter();
    for (const text of this.#texts.slice(NONE + 1)) written.text(text!);
    return written;
  }

  at(index: number): string | null {
    return this.#texts[index]!;
  }

  find(text: string): number | undefined {
    return this.#indexes.get(text);
  }

  indexOf(text: string | null): number {
    return this.#indexes.get(text) ?? this.#add(text);
  }

  replace(index: number, text: string): void {
    this.#indexes.delete(this.#texts[index]!);
    this.#texts[index] = text;
  }

  #add(text: string | null): number {
    const index = this.#texts.push(text) - 1;
    this.#indexes.set(text, index);
    return index;
  }
}
