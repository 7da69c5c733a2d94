/**
 * What is kept of a browser: its name and system in a few words, so that people know their own sessions again. Browsers
 * may claim anything, so nothing is decided by it.
 */

/** In the order in which they are looked for: most browsers also name those that they descend from. */
const BROWSERS: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\b(?:OPR|Opera)\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Chrome|CriOS|HeadlessChrome)\//, 'Chrome'],
  [/\bVersion\/[\d.]+.*\bSafari\//, 'Safari'],
  [/^curl\//, 'curl'],
];

const SYSTEMS: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/\b(?:iPhone|iPod)\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b|\bMacintosh\b/, 'macOS'],
  [/\bLinux\b|\bX11\b/, 'Linux'],
];

/** Characters of a `User-Agent` that are looked at. */
const LENGTH_MAX = 400;

/** Such as `Firefox on Linux`. `undefined`: neither is known. */
export function describeDevice(userAgent: string | undefined): string | undefined {
  const text = (userAgent ?? '').slice(0, LENGTH_MAX);
  const nameIn = (known: typeof BROWSERS) => known.find(([pattern]) => pattern.test(text))?.[1];
  const [browser, system] = [nameIn(BROWSERS), nameIn(SYSTEMS)];
  if (browser === undefined) return system && `a browser on ${system}`;
  return system === undefined ? browser : `${browser} on ${system}`;
}
