/**
 * PNG with few colors. A page has a dozen, and the blends between letters and their ground; with 32 of all these, letters stay
 * crisp, and the file has a sixth of the size.
 */
import { crc32, deflateSync } from 'node:zlib';

/** Red, green, blue and alpha of each pixel, row by row. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly rgba: Buffer;
}

const COLORS_MAX = 32;
/** Rare colors that differ less, in each channel, are one. */
const GAP = 24;
/** More pixels than this share are no blend, but a color that the style sheet chose. */
const CHOSEN_SHARE = 0.0008;

export function encodePng({ width, height, rgba }: Pixels): Buffer {
  const { palette, indexes } = reduce(rgba);
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y += 1) {
    rows.set(indexes.subarray(y * width, (y + 1) * width), y * (width + 1) + 1);
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // 8 bits a pixel, each an index of the palette.
  header.set([8, 3, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('PLTE', Buffer.from(palette.flat())),
    chunk('IDAT', deflateSync(rows, { level: 9, memLevel: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(named.length + 8);
  framed.writeUInt32BE(data.length, 0);
  framed.set(named, 4);
  framed.writeUInt32BE(crc32(named), named.length + 4);
  return framed;
}

type Color = readonly [number, number, number];

/** The commonest colors, and for each pixel the nearest of them. */
function reduce(rgba: Buffer): { palette: Color[]; indexes: Uint8Array } {
  const counts = new Map<number, number>();
  for (let at = 0; at < rgba.length; at += 4) {
    const color = rgba.readUIntBE(at, 3);
    counts.set(color, (counts.get(color) ?? 0) + 1);
  }
  const colors = [...counts].sort(([, a], [, b]) => b - a).map(([color]) => color);
  const palette: Color[] = [];
  for (const number of colors) {
    const color = channelsOf(number);
    if (palette.length === COLORS_MAX) break;
    const isChosen = counts.get(number)! > (rgba.length / 4) * CHOSEN_SHARE;
    if (isChosen || palette.every((each) => distance(each, color) >= GAP)) palette.push(color);
  }
  const nearest = new Map(colors.map((color) => [color, nearestOf(palette, channelsOf(color))]));
  const indexes = new Uint8Array(rgba.length / 4);
  for (let at = 0; at < indexes.length; at += 1) indexes[at] = nearest.get(rgba.readUIntBE(at * 4, 3))!;
  return { palette, indexes };
}

function channelsOf(color: number): Color {
  return [color >> 16, (color >> 8) & 255, color & 255];
}

function distance([r, g, b]: Color, [red, green, blue]: Color): number {
  return Math.max(Math.abs(r - red), Math.abs(g - green), Math.abs(b - blue));
}

function nearestOf(palette: readonly Color[], color: Color): number {
  let best = 0;
  for (let at = 1; at < palette.length; at += 1) {
    if (distance(palette[at]!, color) < distance(palette[best]!, color)) best = at;
  }
  return best;
}
