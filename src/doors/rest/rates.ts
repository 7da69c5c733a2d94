/** `GET /v1/rates`. Source: specification 4.1. */
import type { Deps } from '../deps.ts';
import type { Http } from '../http/http.ts';
import { answers, RateCardSchema, renderRateCard } from './schemas.ts';

export function ratesRoute(app: Http, deps: Deps): void {
  app.get(
    '/v1/rates',
    {
      schema: {
        tags: ['Rates'],
        summary: 'The rate card in effect',
        response: answers({ 200: RateCardSchema }),
      },
    },
    async () => renderRateCard(await deps.rates.current(deps.db)),
  );
}
