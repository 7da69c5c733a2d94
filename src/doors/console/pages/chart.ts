/**
 * Bars of a period as SVG, which needs no script. The table beside it has the same numbers.
 *
 * A series has a color and a pattern, so that colors alone tell nothing apart.
 */
import { type Html, html } from '@boxoffice/pages/html';
import { dayText } from '../../../base/lib/short-time.ts';
import { MICROS_PER_DOLLAR } from '../../../money/amount.ts';
import { exact, grouped, roughly } from '../../consoles/components.ts';

export interface Series {
  readonly name: string;
  /** One for each bar: micros, or what the measure counts. */
  readonly amounts: readonly bigint[];
}

/** What bars measure. */
interface Measure {
  /** Where the axis ends if there is nothing. */
  readonly usual: bigint;
  /** The axis ends at the power of ten of so many digits at least. */
  readonly digitsMin: number;
  readonly text: (amount: bigint) => string;
  readonly axisText: (amount: bigint) => string;
}

const MONEY: Measure = { usual: MICROS_PER_DOLLAR, digitsMin: 4, text: roughly, axisText: axisDollars };
/** Whole numbers of anything. */
export const COUNTS: Measure = { usual: 10n, digitsMin: 1, text: countText, axisText: countText };

interface Bars {
  readonly label: string;
  /** What each bar is about, such as a day. */
  readonly bars: readonly string[];
  /** From the bottom up. */
  readonly series: readonly Series[];
}

/** What the script needs to make a chart of the bars that can be zoomed. */
interface Zoom {
  readonly every: 'day' | 'hour';
  /** What the clock shows when each bar begins, as if it were that of UTC, and which clock that is. */
  readonly shown: readonly Date[];
  readonly zone: string;
  /** Addresses of what it loads on request. */
  readonly script: string;
  readonly style: string;
}

/** The frame of a chart, in units of its SVG. */
interface Frame {
  readonly height: number;
  /** For the texts of the axis. */
  readonly left: number;
  /** So many bars have a text below. */
  readonly texts: number;
  /** The fill of a series. */
  readonly fill: (series: number) => Html;
  readonly measure: Measure;
}

const WIDTH = 640;
const BOTTOM = 28;
const TOP = 10;

/** Lines in a square of 8, one for each color of the style sheet; the first one has none. */
const PATTERNS = [
  '',
  'M-2 2L2-2M0 8L8 0M6 10L10 6',
  'M2 2h.01M6 6h.01',
  'M0 2H8M0 6H8',
  'M-2 6L2 10M0 0L8 8M6-2L10 2',
  'M0 4H8M4 0V8',
] as const;
export const SERIES_MAX = PATTERNS.length;

/** Bars that are narrower have no line around them. */
const NARROW = 4;

/** With a legend and, if it can be zoomed, what the script needs for that. */
export function renderChart({ zoom, ...bars }: Bars & { readonly zoom?: Zoom }): Html {
  const fill = (series: number) => html`fill="url(#p${series})"`;
  return html`<figure class="chart card"${zoom && renderZoom(zoom)}>
<ul class="legend">${bars.series.map(
    ({ name, amounts }, at) =>
      html`<li><svg viewBox="0 0 22 14" aria-hidden="true"><defs>${renderPattern(at)}</defs><rect ${fill(at)} width="22" height="14"/></svg><bdi>${name}</bdi>
<span class="number">${roughly(amounts.reduce((sum, each) => sum + each, 0n))}</span></li>`,
  )}</ul>
${renderBars(bars, { height: 220, left: 84, texts: zoom?.every === 'hour' ? 5 : 7, fill, measure: MONEY })}</figure>`;
}

function renderZoom({ every, shown, zone, script, style }: Zoom): Html {
  const step = every === 'day' ? 86_400 : 3_600;
  const from = shown[0]!.getTime() / 1000;
  return html` id="chart" data-from="${from}" data-to="${from + shown.length * step}"
data-step="${step}" data-zone="${zone}" data-script="${script}" data-style="${style}"`;
}

/** Low, of one series, and without a legend. */
export function renderSmallChart({
  label,
  bars,
  amounts,
  measure = MONEY,
}: Omit<Bars, 'series'> & Pick<Series, 'amounts'> & { readonly measure?: Measure }): Html {
  const series = [{ name: label, amounts }];
  const fill = (at: number) => html`class="s${at}"`;
  return html`<figure class="chart card is-small">${renderBars({ label, bars, series }, { height: 130, left: 56, texts: 7, fill, measure })}</figure>`;
}

function renderBars({ label, bars, series }: Bars, { height, left, texts, fill, measure }: Frame): Html {
  const sums = bars.map((_, at) => series.reduce((sum, { amounts }) => sum + (amounts[at] ?? 0n), 0n));
  const most = sums.reduce((most, sum) => (sum > most ? sum : most), 0n);
  const top = most === 0n ? measure.usual : niceTop(most, measure.digitsMin);
  const slot = (WIDTH - left) / Math.max(1, bars.length);
  const tallOf = (amount: bigint) => (Number((amount * 100_000n) / top) / 100_000) * (height - TOP - BOTTOM);
  const everyNth = Math.ceil(bars.length / texts);
  return html`<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${label}"${slot < NARROW && html` class="dense"`}>
${[0n, top / 2n, top].map((amount) => {
  const y = height - BOTTOM - tallOf(amount);
  return html`<line x1="${left}" x2="${WIDTH}" y1="${y.toFixed(1)}" y2="${y.toFixed(1)}"/><text x="${left - 6}" y="${(y + 4).toFixed(1)}" text-anchor="end">${measure.axisText(amount)}</text>`;
})}
${bars.map((bar, at) => {
  let y = height - BOTTOM;
  const x = left + at * slot + slot * 0.1;
  return html`${
    sums[at]! > 0n &&
    html`<g><title>${barText(bar)}: ${measure.text(sums[at]!)}</title>${series.map(({ amounts }, number) => {
      const tall = tallOf(amounts[at] ?? 0n);
      y -= tall;
      return (
        tall > 0 &&
        html`<rect ${fill(number)} x="${x.toFixed(1)}" y="${y.toFixed(1)}" width="${(slot * 0.8).toFixed(1)}" height="${tall.toFixed(1)}"/>`
      );
    })}</g>`
  }${
    at % everyNth === 0 &&
    html`<text${(at / everyNth) % 2 === 1 && html` class="minor"`} x="${(x + slot * 0.4).toFixed(1)}" y="${height - 6}" text-anchor="middle">${barText(bar)}</text>`
  }`;
})}
</svg>`;
}

/** In the legend, which stays when the script replaces the bars, and finds the lines of its canvas there. */
function renderPattern(at: number): Html {
  return html`<pattern id="p${at}" width="8" height="8" patternUnits="userSpaceOnUse"><path class="s${at}" d="M0 0H8V8H0z"/>${
    PATTERNS[at] !== '' && html`<path class="lines" d="${PATTERNS[at]}"/>`
  }</pattern>`;
}

/** `30 Oct` of a day, `30 Oct 23:00` of an hour; a month as it is. */
function barText(bar: string): string {
  const [day, hour] = bar.split(' ');
  if (day!.length < 10) return bar;
  return hour === undefined ? dayText(day!) : `${dayText(day!)} ${hour}`;
}

/** Without zeros at the end, but for those of cents. */
function axisDollars(amount: bigint): string {
  return exact(amount)
    .replace(/0{1,4}$/, '')
    .replace(/\.00$/, '');
}

function countText(amount: bigint): string {
  return grouped(String(amount));
}

/** The next number of the form 1, 2 or 5 times a power of ten: where the axis ends. */
function niceTop(most: bigint, digitsMin: number): bigint {
  const power = 10n ** BigInt(Math.max(digitsMin, most.toString().length - 1));
  return [1n, 2n, 5n, 10n].map((times) => times * power).find((each) => each >= most) ?? most;
}
