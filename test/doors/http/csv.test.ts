import { expect, test } from 'vitest';
import { renderCsv } from '../../../src/doors/http/csv.ts';

test.each([
  [['a', 1, 2n, true, undefined, null, ''], 'a,1,2,true,,,'],
  [['a,b', 'say "x"', 'two\nlines', ' a '], '"a,b","say ""x""","two\nlines", a '],
  [['=1+1', '+1', '@a', '-a', '\tx', '\rx'], `'=1+1,'+1,'@a,'-a,'\tx,"'\rx"`],
  [['\n=1', ' =1', '\u00a0+1', '\u3000@a', ' \t\r\n-a'], `"'\n=1",' =1,'\u00a0+1,'\u3000@a,"' \t\r\n-a"`],
  [['＝1+1', '＋1', '＠a', '－a', '\u3000＝1'], `'＝1+1,'＋1,'＠a,'－a,'\u3000＝1`],
  [
    ['\ufe66\u0031', '\ufe62', '\ufe6ba', '\u200b=1', '\u00ad+1'],
    `'\ufe661,'\ufe62,'\ufe6ba,'\u200b=1,'\u00ad+1`,
  ],
  [['\nx', ' 12', '1-2', 'a=b', 'ａ＝ｂ', '１'], `"'\nx", 12,1-2,a=b,ａ＝ｂ,１`],
  [['-1', '-0.000005', '-1+1', '-1,5'], `-1,-0.000005,'-1+1,"'-1,5"`],
])('%s', (cells, line) => {
  expect(renderCsv(cells)).toBe(`${line}\r\n`);
});

test('a semicolon separates, and is quoted in its stead', () => {
  expect(renderCsv(['a;b', 'a,b', '=1;2', 1n, null], 'semicolon')).toBe(`"a;b";a,b;"'=1;2";1;\r\n`);
});
