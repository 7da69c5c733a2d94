/**
 * The conformance suite: `npm run conformance -- [--table] [--only <words>] [--verbose] [language...]`. Without languages, it
 * runs all. See README.md.
 */
import { parseArgs } from 'node:util';
import { LANGUAGES } from './languages.ts';
import { STEPS } from './steps/index.ts';
import { type LanguageResult, REFERENCE, runLanguage, type StepResult } from './suite.ts';
import { renderProblems, renderTable } from './table.ts';
import { openWorld } from './world.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    /** Print the table of steps and languages. */
    table: { type: 'boolean', default: false },
    /** Only this language, or the steps whose names contain this. */
    only: { type: 'string', default: '' },
    /** Print the outcome of each step. */
    verbose: { type: 'boolean', default: false },
  },
});

function print(language: string, name: string, { problems, ms, outcome, isLacking }: StepResult): void {
  const verdict = problems.length > 0 ? 'FAILED' : isLacking ? 'not there' : 'ok';
  console.log(`${language}: ${name}: ${verdict} in ${Math.round(ms)} ms`);
  if (values.verbose) console.log(JSON.stringify(outcome));
  for (const problem of problems) console.log(`  ${problem}`);
}

// `--only rust` means the language: no name of a step is one.
const isLanguage = values.only in LANGUAGES;
const given = isLanguage ? [values.only, ...positionals] : positionals;
const languages = given.length > 0 ? given : Object.keys(LANGUAGES);
const steps = STEPS.filter(({ name }) => isLanguage || name.includes(values.only));
const world = await openWorld();
const results: LanguageResult[] = [];
try {
  for (const language of languages) {
    const reference = results.find((each) => each.language === REFERENCE);
    const onStep = (name: string, result: StepResult) => print(language, name, result);
    const result = await runLanguage(language, world, { steps, reference, onStep });
    results.push(result);
    if (result.missing !== undefined) console.log(`${language} is missing: ${result.missing}`);
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
