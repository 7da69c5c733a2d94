/** `admin secrets rotate`: seals everything again with SECRETS_KEY, and says whether another key is still needed. */
import type { Command } from 'commander';
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import { SecretBox } from '../../base/lib/secret-box.ts';
import { countOtherSealers } from '../../base/processes/processes.sql.ts';
import { type Renewed, renewSecrets } from '../renew-secrets.ts';
import { findSecretsKey } from '../secrets-key.ts';
import { type JsonOption, withJson } from './arguments.ts';
import { type Connected, withDatabase } from './database.ts';
import { operator } from './operator.ts';
import { printJson, printLine, printTable } from './output.ts';
import { withProgress } from './progress.ts';

export function secretsCommands(program: Command): void {
  const secrets = program.command('secrets').description('what is sealed with SECRETS_KEY');
  withJson(
    secrets
      .command('rotate')
      .description(
        'seal everything again with SECRETS_KEY that SECRETS_KEY_FALLBACK opens, and then look whether all is',
      ),
  )
    .addHelpText(
      'after',
      '\nAll processes have to run with the new SECRETS_KEY, and the old one as SECRETS_KEY_FALLBACK. May be interrupted' +
        '\nand repeated. Exit code 0 when nothing needs SECRETS_KEY_FALLBACK any more.',
    )
    .action(({ json }: JsonOption) => withDatabase((connected) => rotate(connected, json)));
}

async function rotate({ db, config }: Connected, json: boolean | undefined): Promise<void> {
  const box = new SecretBox(await findSecretsKey(config, { mayMake: false }), config.secretsKeyFallback);
  const assertAllSeal = async () => {
    const others = await countOtherSealers(db, box.keyName);
    if (others > 0)
      throw new Error(
        `${others} processes seal with another key: start them again with this SECRETS_KEY first`,
      );
  };
  await assertAllSeal();
  const renewed = await withProgress((at) => renewSecrets(db, box, at));
  const values = renewed.reduce((sum, each) => sum + each.renewed, 0);
  const entry = { action: 'secrets_renewed', subject: null, before: null, after: { values } };
  if (values > 0) await appendAudit(db, null, operator(), entry);
  // What is sealed since then is found too.
  const left = await withProgress((at) => renewSecrets(db, box, at));
  await assertAllSeal();
  const isDone = left.every((each) => each.renewed === 0 && each.lost === 0);
  if (json) printJson({ tables: renewed, done: isDone });
  else print(renewed, isDone);
  if (!isDone) process.exitCode = 1;
}

function print(renewed: readonly Renewed[], isDone: boolean): void {
  printTable(
    ['table', 'sealed', 'sealed again', 'not opened by either key'],
    renewed.map(({ table, ...counts }) => [table, counts.sealed, counts.renewed, counts.lost]),
  );
  printLine();
  printLine(
    isDone
      ? 'SECRETS_KEY opens everything: SECRETS_KEY_FALLBACK can go'
      : 'something needs another key than SECRETS_KEY: keep SECRETS_KEY_FALLBACK',
  );
}
