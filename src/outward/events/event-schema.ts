/** The schema of an event as receivers and `GET /v1/events` get it. */
import { type TSchema, Type, time } from '../../base/lib/schema.ts';

/** The number of an event. JSON integers have any size. */
export function eventSeq(description: string) {
  return Type.Unsafe<bigint>({ type: 'integer', format: 'int64', description, examples: [42] });
}

/** `type`, `version` and `data` differ from type to type. */
export function eventSchema<T extends TSchema, D extends TSchema>(
  { type, version = 1, data }: { readonly type: T; readonly version?: number; readonly data: D },
  description: string,
) {
  return Type.Object(
    {
      id: Type.String({
        description: 'The same wherever the event appears; webhooks have it as the header `webhook-id`',
        examples: ['evt_5f0c3a5d7e1b24688642b1e7d5a3c0f9'],
      }),
      seq: eventSeq('Events of a tenant are numbered from 1, without a gap'),
      type,
      schema_version: Type.Integer({
        minimum: 1,
        description:
          'The version of the schema of this type. It rises by one when members or words are added',
        examples: [version],
      }),
      timestamp: time('When it happened'),
      skipped: Type.Optional(
        eventSeq(
          'In webhooks only: so many events before this one were deleted before they could be delivered',
        ),
      ),
      data,
    },
    { description },
  );
}
