/**
 * The conformance suite: `node sdk/conformance/run.ts [--table] [--only <words>] [language...]`. Without
 * languages, it runs all. See README.md.
 */
import { parseArgs } from 'node:util';
import { LANGUAGES } from './languages.ts';
import { STEPS } from './steps/index.ts';
import { type LanguageResult, REFERENCE, runLanguage } from './suite.ts';
import { renderProblems, renderTable } from './table.ts';
import { openWorld } from './world.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    /** Print the table of steps and languages. */
    table: { type: 'boolean', default: false },
    /** Only the steps whose names contain this. */
    only: { type: 'string', default: '' },
    /** Print how long each step took, and its outcome. */
    verbose: { type: 'boolean', default: false },
  },
});

const languages = positionals.length > 0 ? positionals : Object.keys(LANGUAGES);
const steps = STEPS.filter(({ name }) => name.includes(values.only));
const world = await openWorld();
const results: LanguageResult[] = [];
try {
  for (const language of languages) {
    const reference = results.find((each) => each.language === REFERENCE);
    const result = await runLanguage(language, world, { steps, reference });
    results.push(result);
    if (result.missing !== undefined) console.log(`${language} is missing: ${result.missing}`);
    if (!values.verbose) continue;
    for (const [name, { ms, outcome }] of result.steps) {
      console.log(`${language}: ${name}: ${Math.round(ms)} ms ${JSON.stringify(outcome)}`);
    }
  }
} finally {
  await world.close();
}
if (values.table) console.log(renderTable(results));
const problems = renderProblems(results);
for (const problem of problems) console.log(problem);
const count = results.reduce((sum, result) => sum + result.steps.size, 0);
console.log(`${count} steps, ${problems.length} problems`);
process.exitCode = problems.length > 0 ? 1 : 0;
