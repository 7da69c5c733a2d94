/**
 * Check an OpenAPI description by the recommended rules of Spectral. Any finding fails, hints too.
 *
 *     node scripts/lint-openapi.ts FILE
 */
import { readFileSync } from 'node:fs';
import { type ISpectralDiagnostic, type RulesetDefinition, Spectral } from '@stoplight/spectral-core';
import { oas } from '@stoplight/spectral-rulesets';

/** What Spectral finds in this description. */
export async function lintOpenApi(description: Record<string, unknown>): Promise<ISpectralDiagnostic[]> {
  const spectral = new Spectral();
  // Its published types lack a member of their own interface.
  spectral.setRuleset({ extends: [[oas as RulesetDefinition, 'recommended']] });
  return await spectral.run(description);
}

if (import.meta.main) {
  const [file] = process.argv.slice(2);
  if (!file) throw new Error('usage: lint-openapi.ts FILE');
  const findings = await lintOpenApi(JSON.parse(readFileSync(file, 'utf8')));
  for (const { code, path, message } of findings) console.error(`${path.join('.')}: ${message} (${code})`);
  console.log(`Spectral: ${findings.length} findings in ${file}`);
  process.exitCode = findings.length > 0 ? 1 : 0;
}
