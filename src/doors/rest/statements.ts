/** `GET /v1/statements` and below: the account of a month. */
import { signStatement } from '../../access/tokens/sign-statement.ts';
import { invalidField } from '../../base/failure.ts';
import { Type, words } from '../../base/lib/schema.ts';
import { renderAmount } from '../../money/amount.ts';
import { type Month, parseMonth } from '../../money/month.ts';
import { buildStatement } from '../../money/statements/build-statement.ts';
import { listStatements } from '../../money/statements/list-statements.ts';
import { renderStatement } from '../../money/statements/statement-document.ts';
import { preferredType } from '../http/accept.ts';
import { renderStatementCsv, STATEMENT_COLUMNS } from '../http/statement-csv.ts';
import { renderStatementPage, STATEMENT_PAGE_POLICY } from '../http/statement-page.ts';
import { plain } from './route.ts';
import { ListedStatementSchema, MonthSchema, StatementSchema } from './statement-schema.ts';

const listRoute = plain(
  {
    path: 'GET /v1/statements',
    key: 'backend',
    closedTo: 'suspended',
    queue: 'calls',
    tag: 'Billing',
    operation: 'listStatements',
    summary: 'The months that have statements',
    description:
      'Newest first. Months in which nothing changed the balance have statements too, but are not listed.',
    answer: {
      200: Type.Object(
        { statements: Type.Array(ListedStatementSchema, { description: 'The months' }) },
        { description: 'The months' },
      ),
    },
  },
  async ({ deps, caller }) => {
    const statements = await listStatements(deps.db, caller.tenant);
    return {
      statements: statements.map(({ month, opening, closing }) => ({
        month,
        opening: renderAmount(opening),
        closing: renderAmount(closing),
      })),
    };
  },
);

const text = (description: string) => ({ schema: Type.String({ description }) });

const AnswerSchema = Type.Object({
  statement: StatementSchema,
  jws: Type.Optional(
    Type.String({
      description:
        'The statement, signed: a compact JWS of the type `statement+jwt`, to be verified with the keys of ' +
        '`/.well-known/statement-keys.json`. Absent: the month is not over',
    }),
  ),
});

const showRoute = plain(
  {
    path: 'GET /v1/statements/:month',
    key: 'backend',
    closedTo: 'suspended',
    queue: 'heavy reads',
    tag: 'Billing',
    operation: 'getStatement',
    summary: 'The statement of a month',
    description:
      'Opening balance, payments, reversals, adjustments, grants, usage by room, closing balance: equal to the ledger, ' +
      'to the micro. Its figures never change. One of a month that is not over is 409 without `so_far`, one of a ' +
      'month in the future 400, and one of a month before the signup 404.',
    params: Type.Object({ month: MonthSchema }),
    query: Type.Object({
      so_far: Type.Optional(
        words(['true'], { description: 'Also for a month that is not over, up to now and unsigned' }),
      ),
    }),
    answer: {
      200: Type.Unsafe<object | string>({
        description: 'The statement, in the form that `Accept` asks for',
        content: {
          'application/json': { schema: AnswerSchema },
          'text/csv': text(
            `A line for each change of the balance, with the columns ${STATEMENT_COLUMNS.join(', ')}`,
          ),
          'text/html': text('A page to print'),
        },
      }),
    },
    errors: [404, 409],
    parse: ({ params }) => parse(params.month),
  },
  async ({ deps, caller, query, input: month, request, reply }) => {
    const soFar = query.so_far === 'true';
    const statement = await buildStatement(deps, caller.tenant, month, { soFar });
    switch (preferredType(request.headers.accept, ['application/json', 'text/csv', 'text/html'])) {
      case 'text/csv':
        reply.type('text/csv; charset=utf-8');
        reply.header(
          'content-disposition',
          `attachment; filename="statement-${month}${statement.soFar ? '-so-far' : ''}.csv"`,
        );
        return renderStatementCsv(statement);
      case 'text/html':
        reply.type('text/html; charset=utf-8');
        reply.header('content-security-policy', STATEMENT_PAGE_POLICY);
        reply.header('referrer-policy', 'no-referrer');
        reply.header('x-content-type-options', 'nosniff');
        return renderStatementPage(statement);
      case 'application/json':
        reply.type('application/json; charset=utf-8');
        return {
          statement: renderStatement(statement),
          ...(!statement.soFar && { jws: await signStatement(deps, statement) }),
        };
    }
  },
);

function parse(text: string): Month {
  const month = parseMonth(text);
  if (!month) throw invalidField('month', 'must be a month such as 2026-10');
  return month;
}

export const statementRoutes = [listRoute, showRoute];
