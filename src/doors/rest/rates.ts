/** `GET /v1/rates`. Source: specification 4.1. */
import type { Deps } from '../deps.ts';
import { answers } from '../http/answers.ts';
import type { Http } from '../http/http.ts';
import { RateCardSchema, renderRateCard } from './schemas.ts';

export function ratesRoute(app: Http, deps: Deps): void {
  app.get(
    '/v1/rates',
    {
      schema: {
        tags: ['Rates'],
        operationId: 'getRates',
        summary: 'The rate card in effect',
        description: 'Prices may change: each charge is made by the card in effect at that moment.',
        security: [],
        response: answers({ 200: RateCardSchema }),
      },
    },
    async () => renderRateCard(await deps.rates.current(deps.db)),
  );
}
