import { describe, expect, test } from 'vitest';
import { SERIES_MAX } from '../../../src/doors/console/pages/chart.ts';
import { STYLE } from '../../../src/doors/consoles/assets/style.css.ts';

/** Source: WCAG 2.2, "relative luminance" and "contrast ratio". */
function luminance(color: string): number {
  const [red, green, blue] = [1, 3, 5]
    .map((at) => Number.parseInt(color.slice(at, at + 2), 16) / 255)
    .map((each) => (each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4)) as [
    number,
    number,
    number,
  ];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

/** The light one, then the dark one. */
const valuesOf = (name: string) =>
  [...STYLE.matchAll(new RegExp(`--${name}: (#[0-9a-f]{6})`, 'g'))].map(([, value]) => value!);

describe.each([
  ['light', 0],
  ['dark', 1],
] as const)('in the %s look', (_look, at) => {
  test.each(Array.from({ length: SERIES_MAX }, (_, number) => `s${number}`))(
    'the bars of the color %s stand out from the ground',
    (name) => {
      expect(contrast(valuesOf(name)[at]!, valuesOf('paper')[at]!)).toBeGreaterThanOrEqual(3);
    },
  );
});
