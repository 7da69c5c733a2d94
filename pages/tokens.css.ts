/** The tokens of the style of every page: the colors of light and dark screens and of paper, and the type. */
export const TOKENS = `
:root {
  color-scheme: light dark;
  --paper: #ffffff;
  --ground: #f5f6f9;
  --ink: #1b2033;
  --quiet: #59617a;
  --line: #d5d9e4;
  --strong: #1b2033;
  --accent: #4c3fd1;
  --accent-ink: #ffffff;
  --accent-soft: #efedfd;
  --bad: #a8202c;
  --bad-soft: #fdecee;
  --good: #14633d;
  --good-soft: #e3f5ea;
  --warn: #7a4b00;
  --warn-soft: #fff2d6;
  --focus: #1a66ff;
  --sans: system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif;
  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --paper: #191c27;
    --ground: #10121a;
    --ink: #eceef6;
    --quiet: #a4abc2;
    --line: #343a4d;
    --strong: #c9ced8;
    --accent: #8f85ff;
    --accent-ink: #12101f;
    --accent-soft: #26233f;
    --bad: #ff9aa2;
    --bad-soft: #3a1c22;
    --good: #7fdba6;
    --good-soft: #14301f;
    --warn: #f5c466;
    --warn-soft: #362a11;
    --focus: #7fb0ff;
  }
}
@media print {
  :root { --ground: #ffffff; --line: #c9ced8; }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
`;
