/** `GET /v1/rates`. Source: specification 4.1. */

import { open } from './route.ts';
import { RateCardSchema, renderRateCard } from './schemas.ts';

export const ratesRoute = open(
  {
    path: 'GET /v1/rates',
    tag: 'Rates',
    operation: 'getRates',
    summary: 'The rate card in effect',
    description: 'Prices may change: each charge is made by the card in effect at that moment.',
    answer: { 200: RateCardSchema },
  },
  async ({ deps }) => renderRateCard(await deps.rates.current(deps.db)),
);
