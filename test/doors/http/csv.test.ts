import { expect, test } from 'vitest';
import { renderCsv } from '../../../src/doors/http/csv.ts';

test.each([
  [['a', 1, 2n, true, undefined, null, ''], 'a,1,2,true,,,'],
  [['a,b', 'say "x"', 'two\nlines', ' a '], '"a,b","say ""x""","two\nlines", a '],
  [['=1+1', '+1', '@a', '-a', '\tx', '\rx'], `'=1+1,'+1,'@a,'-a,'\tx,"'\rx"`],
  [['-1', '-0.000005', '-1+1', '-1,5'], `-1,-0.000005,'-1+1,"'-1,5"`],
])('%s', (cells, line) => {
  expect(renderCsv(cells)).toBe(`${line}\r\n`);
});
