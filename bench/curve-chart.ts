/** Draws `docs/images/curve.svg`: CPU time of each work by the number of rows, beside its floor. */

export interface Curve {
  readonly title: string;
  /** In microseconds, as the points. */
  readonly floor: number;
  readonly points: readonly { readonly rows: number; readonly us: number }[];
}

const [WIDTH, HEIGHT, GAP] = [310, 190, 20];
const COLUMNS = 3;
const [LEFT, RIGHT, TOP, BOTTOM] = [44, 70, 46, 34];
/** Closer to the floor than this, a number stands on the other side of the line. */
const CLOSE = 18;
const STYLE = `
  text { font: 12px system-ui, sans-serif; fill: #1f2328 }
  .title { font-weight: 600; font-size: 13px }
  .note { font-size: 11px; fill: #59636e }
  .middle { text-anchor: middle }
  .page { fill: #fff }
  .axis { stroke: #d1d9e0; fill: none }
  .floor { stroke: #818b98; stroke-dasharray: 4 4; fill: none }
  .ours { stroke: #0969da; stroke-width: 2; fill: none }
  circle { fill: #0969da }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc } .note { fill: #9198a1 } .page { fill: #0d1117 } .axis { stroke: #3d444d }
    .floor { stroke: #656c76 } .ours { stroke: #4493f8 } circle { fill: #4493f8 }
  }`;

export function drawCurves(curves: readonly Curve[]): string {
  const width = COLUMNS * (WIDTH + GAP);
  const height = Math.ceil(curves.length / COLUMNS) * (HEIGHT + GAP);
  const panels = curves.map((each, at) => {
    const [x, y] = [(at % COLUMNS) * (WIDTH + GAP), Math.floor(at / COLUMNS) * (HEIGHT + GAP)];
    return `<g transform="translate(${x} ${y})">\n${drawCurve(each)}\n</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img">
<title>CPU time of a request by the number of rows, beside its floor</title>
<style>${STYLE}
</style>
<rect class="page" width="${width}" height="${height}"/>
${panels.join('\n')}
</svg>
`;
}

function drawCurve({ title, floor, points }: Curve): string {
  const top = Math.max(floor, ...points.map(({ us }) => us)) * 1.15;
  const [first, last] = [Math.log(points[0]!.rows), Math.log(points.at(-1)!.rows)];
  const xOf = (rows: number) =>
    round(LEFT + ((Math.log(rows) - first) / (last - first)) * (WIDTH - LEFT - RIGHT));
  const yOf = (us: number) => round(HEIGHT - BOTTOM - (us / top) * (HEIGHT - TOP - BOTTOM));
  const line = points.map(({ rows, us }) => `${xOf(rows)} ${yOf(us)}`).join('L');
  return [
    `<text class="title" x="8" y="18">${title}</text>`,
    `<text class="note" x="8" y="34">CPU time in microseconds</text>`,
    `<path class="axis" d="M${LEFT} ${yOf(0)}H${WIDTH - RIGHT + 10}"/>`,
    `<path class="floor" d="M${LEFT} ${yOf(floor)}H${WIDTH - RIGHT + 10}"/>`,
    `<text class="note" x="${WIDTH - RIGHT + 14}" y="${yOf(floor) + 4}">floor ${named(floor)}</text>`,
    `<path class="ours" d="M${line}"/>`,
    ...points.flatMap(({ rows, us }) => [
      `<circle cx="${xOf(rows)}" cy="${yOf(us)}" r="3.5"/>`,
      `<text class="middle" x="${xOf(rows)}" y="${besideLine(yOf(us), yOf(floor))}">${named(us)}</text>`,
      `<text class="note middle" x="${xOf(rows)}" y="${yOf(0) + 16}">${shortened(rows)}</text>`,
    ]),
  ].join('\n');
}

function besideLine(ours: number, floor: number): number {
  return floor <= ours && ours - floor < CLOSE ? ours + 18 : ours - 9;
}

function named(us: number): string {
  return Math.round(us).toLocaleString('en-US');
}

/** Such as `20 million`. */
function shortened(rows: number): string {
  return rows >= 1_000_000 ? `${rows / 1_000_000} million` : `${named(rows)} rows`;
}

function round(length: number): number {
  return Math.round(length * 10) / 10;
}
