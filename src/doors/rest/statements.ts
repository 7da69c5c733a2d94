/** `GET /v1/statements` and below: the account of a month. */
import { signStatement } from '../../access/tokens/sign-statement.ts';
import { invalidField } from '../../base/failure.ts';
import { Type } from '../../base/lib/schema.ts';
import { renderAmount } from '../../money/amount.ts';
import { type Month, parseMonth } from '../../money/month.ts';
import { buildStatement } from '../../money/statements/build-statement.ts';
import { listStatements } from '../../money/statements/list-statements.ts';
import { renderStatement } from '../../money/statements/statement-document.ts';
import type { Deps } from '../deps.ts';
import { answers } from '../http/answers.ts';
import type { Http } from '../http/http.ts';
import { renderStatementCsv, STATEMENT_COLUMNS } from '../http/statement-csv.ts';
import { renderStatementPage, STATEMENT_PAGE_POLICY } from '../http/statement-page.ts';
import { preferredType } from './accept.ts';
import { callerOf, refuseStatus, requireKey } from './auth.ts';
import { words } from './schemas.ts';
import { ListedStatementSchema, MonthSchema, StatementSchema } from './statement-schema.ts';

export function statementRoutes(app: Http, deps: Deps): void {
  listRoute(app, deps);
  showRoute(app, deps);
}

const security = [{ backend_key: [] }];

function listRoute(app: Http, deps: Deps): void {
  app.get(
    '/v1/statements',
    {
      onRequest: requireKey(deps, 'backend'),
      schema: {
        tags: ['Billing'],
        operationId: 'listStatements',
        summary: 'The months that have statements',
        description:
          'Newest first. Months in which nothing changed the balance have statements too, but are not listed.',
        security,
        response: answers(
          {
            200: Type.Object(
              { statements: Type.Array(ListedStatementSchema, { description: 'The months' }) },
              { description: 'The months' },
            ),
          },
          401,
          403,
        ),
      },
    },
    async (request) => {
      const caller = callerOf(request);
      refuseStatus(caller, 'suspended', 'archived', 'deleted');
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
}

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

function showRoute(app: Http, deps: Deps): void {
  const text = (description: string) => ({ schema: Type.String({ description }) });
  app.get(
    '/v1/statements/:month',
    {
      config: { isHeavy: true },
      onRequest: requireKey(deps, 'backend'),
      schema: {
        tags: ['Billing'],
        operationId: 'getStatement',
        summary: 'The statement of a month',
        description:
          'Opening balance, payments, reversals, adjustments, usage by room, closing balance: equal to the ledger, ' +
          'to the micro. Its figures never change. One of a month that is not over is 409 without `so_far`, one of a ' +
          'month in the future 400, and one of a month before the signup 404.',
        security,
        params: Type.Object({ month: MonthSchema }),
        querystring: Type.Object({
          so_far: Type.Optional(
            words(['true'], { description: 'Also for a month that is not over, up to now and unsigned' }),
          ),
        }),
        response: answers(
          {
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
          401,
          403,
          404,
          409,
        ),
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const month = parse(request.params.month);
      refuseStatus(caller, 'suspended', 'archived', 'deleted');
      const soFar = request.query.so_far === 'true';
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
}

function parse(text: string): Month {
  const month = parseMonth(text);
  if (!month) throw invalidField('month', 'must be a month such as 2026-10');
  return month;
}
