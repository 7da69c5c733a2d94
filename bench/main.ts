/** `npm run bench [-- --json]`: runs the benchmarks and prints a table, or JSON. */
import { benchUsage } from './usage.ts';

const progress = (text: string) => process.stderr.write(`\r${text.padEnd(60)}`);
const results = [await benchUsage(progress)];
process.stderr.write(`\r${' '.repeat(60)}\r`);

if (process.argv.includes('--json')) {
  process.stdout.write(`${JSON.stringify(results, null, 2)}\n`);
} else {
  for (const { name, ours, floor, ratio, spread, memoryMb } of results) {
    const range = ([low, high]: readonly [number, number]) => `${Math.round(low)}-${Math.round(high)}`;
    process.stdout.write(
      `${name}\n` +
        `  ours   ${Math.round(ours)} records/s (${range(spread.ours)})\n` +
        `  floor  ${Math.round(floor)} records/s (${range(spread.floor)}), raw COPY\n` +
        `  ratio  ${ratio.toFixed(2)}\n` +
        `  memory ${Math.round(memoryMb)} MB\n`,
    );
  }
}
