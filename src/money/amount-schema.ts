/** The schema of an amount on the wire. Source: specification 2.1. */
import { Type } from '../base/lib/schema.ts';

export const AmountSchema = Type.Object(
  {
    micros: Type.Unsafe<bigint>({
      type: 'integer',
      format: 'int64',
      description: 'Millionths of a US dollar',
    }),
    display: Type.String({
      pattern: '^-?\\$[0-9]+\\.[0-9]{6}$',
      description: 'The same for people, such as `-$0.000009`',
    }),
  },
  { description: 'An amount of money' },
);
