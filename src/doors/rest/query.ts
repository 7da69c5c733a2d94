/** The rule for the query of every route, and parameters that several routes share. They arrive as texts. */
import type { FastifyRequest } from 'fastify';
import { type Failure, invalidField } from '../../base/failure.ts';
import { Type } from '../../base/lib/schema.ts';
import type { Http } from '../http/http.ts';
import { UNKNOWN_LENGTH_MAX } from '../http/refusals.ts';
import { QUERY_TEXT_MAX } from './limits.ts';

export { type Period, parsePeriod, parseTime, parseWholeDays, parseWholeHours } from '../http/period.ts';

/**
 * Before the schema of a route that takes a query, and after the key: the query has no other parameters than the schema
 * names, because one that is misspelled would answer another question, and its texts can be compared with stored ones.
 */
export function checkQueries(app: Http): void {
  app.addHook('preValidation', (request, _reply, done) => {
    const schema = request.routeOptions.schema?.querystring as { readonly properties: object } | undefined;
    done(schema && findFault(request, schema.properties));
  });
}

function findFault({ url }: FastifyRequest, known: object): Failure | undefined {
  // The router takes what follows a `#` for a query, too.
  const at = url.search(/[?#]/);
  const pairs = at < 0 ? [] : url.slice(at + 1).split('&');
  for (const pair of pairs.filter((each) => each !== '')) {
    const [, given = '', value = ''] = /^([^=]*)=?(.*)$/s.exec(pair)!;
    const name = (decode(given) ?? given).slice(0, UNKNOWN_LENGTH_MAX);
    if (!Object.hasOwn(known, name)) return invalidField(name, 'is not a known parameter');
    const text = decode(value);
    if (text === undefined) return invalidField(name, 'must be percent-encoded UTF-8');
    if (text.includes('\0')) return invalidField(name, 'must not contain NUL');
    if (text.length > QUERY_TEXT_MAX)
      return invalidField(name, `must have at most ${QUERY_TEXT_MAX} characters`);
  }
  return undefined;
}

/** `undefined` if it is not percent-encoded UTF-8. */
function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

/** `from` and `to` of a period. */
export const periodFields = {
  from: Type.Optional(
    Type.String({
      description: 'Start of the period: a day (UTC) or a time, such as `2026-11-01T00:00:00Z`',
    }),
  ),
  to: Type.Optional(
    Type.String({ description: 'End of the period; what happened at that time is not in it' }),
  ),
};

export function limitField(max: number, usual: number) {
  return Type.Optional(
    Type.String({ description: `How many at once: at most ${max}, ${usual} if it is left out` }),
  );
}

export function parseLimit(text: string | undefined, max: number, usual: number): number {
  if (text === undefined) return usual;
  const limit = Number(text);
  if (!/^[1-9][0-9]{0,5}$/.test(text) || limit > max)
    throw invalidField('limit', `must be a number from 1 to ${max}`);
  return limit;
}
