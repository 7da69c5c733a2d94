/** Bars of a period as SVG, which needs no script. The table beside it has the same numbers. */
import { type Html, html } from '@boxoffice/pages/html';
import { dollars } from '../components.ts';

export interface Series {
  readonly name: string;
  /** Micros, one for each bar. */
  readonly amounts: readonly bigint[];
}

export interface Bars {
  readonly label: string;
  /** What each bar is about, such as a day. */
  readonly bars: readonly string[];
  /** From the bottom up. */
  readonly series: readonly Series[];
}

const WIDTH = 640;
const HEIGHT = 220;
const LEFT = 84;
const BOTTOM = 28;
const TOP = 10;
/** As many colors as the style sheet has. */
export const SERIES_MAX = 6;

export function renderBars({ label, bars, series }: Bars): Html {
  const sums = bars.map((_, at) => series.reduce((sum, { amounts }) => sum + (amounts[at] ?? 0n), 0n));
  const top = niceTop(sums.reduce((most, sum) => (sum > most ? sum : most), 1n));
  const slot = (WIDTH - LEFT) / Math.max(1, bars.length);
  const height = (amount: bigint) => (Number((amount * 100_000n) / top) / 100_000) * (HEIGHT - TOP - BOTTOM);
  const everyNth = Math.ceil(bars.length / 7);
  return html`<figure class="chart card">
<ul class="legend">${series.map(
    ({ name }, at) =>
      html`<li><svg viewBox="0 0 10 10" aria-hidden="true"><rect class="s${at}" width="10" height="10"/></svg><bdi>${name}</bdi></li>`,
  )}</ul>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${label}">
${[0n, top / 2n, top].map((amount) => {
  const y = HEIGHT - BOTTOM - height(amount);
  return html`<line x1="${LEFT}" x2="${WIDTH}" y1="${y.toFixed(1)}" y2="${y.toFixed(1)}"/><text x="${LEFT - 6}" y="${(y + 4).toFixed(1)}" text-anchor="end">${axisText(amount)}</text>`;
})}
${bars.map((bar, at) => {
  let y = HEIGHT - BOTTOM;
  const x = LEFT + at * slot + slot * 0.1;
  return html`<g><title>${bar}: ${dollars(sums[at]!)}</title>${series.map(({ amounts }, number) => {
    const tall = height(amounts[at] ?? 0n);
    y -= tall;
    return (
      tall > 0 &&
      html`<rect class="s${number}" x="${x.toFixed(1)}" y="${y.toFixed(1)}" width="${(slot * 0.8).toFixed(1)}" height="${tall.toFixed(1)}"/>`
    );
  })}</g>${
    at % everyNth === 0 &&
    html`<text${(at / everyNth) % 2 === 1 && html` class="minor"`} x="${(x + slot * 0.4).toFixed(1)}" y="${HEIGHT - 6}" text-anchor="middle">${bar.slice(5)}</text>`
  }`;
})}
</svg></figure>`;
}

/** Without cents where they are all zero. */
function axisText(amount: bigint): string {
  return dollars(amount).replace(/\.00$/, '');
}

/** The next number of the form 1, 2 or 5 times a power of ten: where the axis ends. */
function niceTop(most: bigint): bigint {
  const power = 10n ** BigInt(Math.max(4, most.toString().length - 1));
  return [1n, 2n, 5n, 10n].map((times) => times * power).find((each) => each >= most) ?? most;
}
