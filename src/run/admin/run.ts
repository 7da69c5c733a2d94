/**
 * The operator's commands.
 *
 * Exit codes: 0 for success, 1 if the command was refused, failed or found a problem, 2 if it was
 * not understood.
 */
import { Command, CommanderError } from 'commander';
import { FAILURES, Failure } from '../../base/failure.ts';
import { codeOf } from '../../base/lib/error-code.ts';
import { hideSecrets } from '../../base/telemetry/log.ts';
import { ConfigError } from '../config-error.ts';
import { agentKeysCommands } from './agent-keys.ts';
import { auditCommand } from './audit.ts';
import { backupCommand } from './backup.ts';
import { chargesCommands } from './charges.ts';
import { consoleCommands } from './console.ts';
import { creditCommands } from './credit.ts';
import { distributionCommands } from './distribution.ts';
import { drillCommands } from './drill.ts';
import { eventsCommands } from './events.ts';
import { keyCeilingCommand } from './key-ceiling.ts';
import { participantsCommands } from './participants.ts';
import { paymentsCommands } from './payments.ts';
import { ratesCommands } from './rates.ts';
import { reportCommands } from './reports.ts';
import { secretsCommands } from './secrets.ts';
import { signingKeysCommands } from './signing-keys.ts';
import { statementCommands } from './statement.ts';
import { tenantsCommands } from './tenants.ts';
import { topUpsCommands } from './top-ups.ts';
import { usageCommands } from './usage.ts';
import { verifyCommand } from './verify.ts';

const FAILED = 1;
const NOT_UNDERSTOOD = 2;

/** Source: PostgreSQL, appendix A "Error Codes". */
const UNDEFINED_TABLE = '42P01';

const GROUPS = [
  tenantsCommands,
  consoleCommands,
  creditCommands,
  topUpsCommands,
  paymentsCommands,
  usageCommands,
  chargesCommands,
  participantsCommands,
  ratesCommands,
  eventsCommands,
  keyCeilingCommand,
  agentKeysCommands,
  signingKeysCommands,
  secretsCommands,
  auditCommand,
  reportCommands,
  statementCommands,
  verifyCommand,
  backupCommand,
  drillCommands,
  distributionCommands,
];

/** All commands, which do nothing before they are parsed. */
export function makeProgram(): Command {
  const program = new Command('admin')
    .description('What operators look at and change. Works beside a running service, and without one.')
    .addHelpText(
      'after',
      '\nThe database is that of DATABASE_URL, or else the embedded one of DATA_DIR (./data).\n' +
        'Exit codes: 0 done; 1 refused, failed, or something is wrong; 2 the command was not understood.',
    )
    // Subcommands inherit it, so it comes before them.
    .exitOverride();
  for (const add of GROUPS) add(program);
  return program;
}

/** Run one command. Returns its exit code. */
export async function runAdmin(args: readonly string[]): Promise<number> {
  try {
    await makeProgram().parseAsync(args, { from: 'user' });
    // A command that found a problem has set the exit code.
    return Number(process.exitCode ?? 0);
  } catch (error) {
    return report(error);
  }
}

function report(error: unknown): number {
  // Commander has already printed the help or the error.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : NOT_UNDERSTOOD;
  process.stderr.write(`${describe(error)}\n`);
  return error instanceof ConfigError ? NOT_UNDERSTOOD : FAILED;
}

function describe(error: unknown): string {
  if (error instanceof Failure && error.resource !== undefined && error.message === FAILURES.not_found)
    return `${error.resource} not found`;
  if (error instanceof Failure || error instanceof ConfigError) return error.message;
  if (codeOf(error) === UNDEFINED_TABLE) return 'the database has no tables yet: start the service once';
  // The class itself would load the provider's client for every command.
  const { type, detail } = (error ?? {}) as { type?: unknown; detail?: unknown };
  if (type === 'StripeConnectionError') {
    return `the payment provider cannot be reached: ${messageOf(detail)}`;
  }
  return messageOf(error);
}

function messageOf(error: unknown): string {
  // Connecting to several addresses of a host fails with an AggregateError, which has no message of its own.
  const [first] = error instanceof AggregateError ? error.errors : [];
  const cause: unknown = first ?? error;
  return hideSecrets(cause instanceof Error ? cause.message : String(cause));
}
