/** `admin console ...`: links that log in once: to the console of a tenant whose mail is lost, and to that of operators. */
import { type Command, Option } from 'commander';
import { LINK_MINUTES } from '../../access/logins/login-link.ts';
import { makeConsoleLink } from '../../access/logins/make-console-link.ts';
import { endOperatorSessions, makeOperatorLink } from '../../access/operators/log-in-with-link.ts';
import { OPERATOR_LINK_MINUTES } from '../../access/operators/operator-session.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { type JsonOption, parseTenant, withJson } from './arguments.ts';
import { withDatabase } from './database.ts';
import { operator } from './operator.ts';
import { printJson, printLine } from './output.ts';

export function consoleCommands(program: Command): void {
  const commands = program.command('console').description('the pages of tenants and of operators');
  operatorCommand(commands);
  withJson(
    commands
      .command('login')
      .description(`print a link that logs in as an owner, once, within ${LINK_MINUTES} minutes`),
  )
    .addOption(
      new Option('--tenant <id>', 'the tenant, as t_ and 16 hex digits')
        .argParser(parseTenant)
        .makeOptionMandatory(),
    )
    .action(async ({ tenant, json }: { tenant: TenantId } & JsonOption) => {
      await withDatabase(async ({ db, config }) => {
        const url = await makeConsoleLink(db, operator(), tenant, config.publicUrl);
        if (json) printJson({ url });
        else printLine(url);
      });
    });
}

function operatorCommand(commands: Command): void {
  withJson(
    commands
      .command('operator')
      .description(
        `print a link that logs you in to the console of operators, once, within ${OPERATOR_LINK_MINUTES} minutes`,
      ),
  )
    .option('--end', 'log every operator out instead, and make all such links useless')
    .action(async ({ end = false, json }: { end?: boolean } & JsonOption) => {
      await withDatabase(async ({ db, config }) => {
        if (end) {
          const ended = await endOperatorSessions(db, operator());
          if (json) printJson({ ended });
          else printLine(`${ended} sessions of operators ended`);
          return;
        }
        const url = await makeOperatorLink(db, operator(), config.opsUrl);
        if (json) printJson({ url });
        else printLine(url);
      });
    });
}
