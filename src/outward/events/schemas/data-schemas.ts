/**
 * The schema of the `data` of each event, by what it is about.
 *
 * Validators, SDKs, documents and the OpenAPI description follow from these. The service sends events without them, so
 * only their first use loads them.
 */
import { type Static, type TSchema, Type } from '../../../base/lib/schema.ts';
import type { PublicSubjects } from '../event-catalogue.ts';
import type { PublicData } from '../public-data.ts';
import {
  ApiKeyChangeSchema,
  DeviceCredentialChangeSchema,
  KeyRetirementSchema,
  TenantStatusSchema,
  WebhookPauseSchema,
} from './account-schemas.ts';
import {
  BalanceAlertSchema,
  BudgetAlertSchema,
  CardExpirySchema,
  ConflictingDuplicatesSchema,
  CreditSchema,
  GrantExpirySchema,
  PaymentDisputeEndSchema,
  PaymentDisputeSchema,
  PaymentReversalSchema,
  ReadyStatementSchema,
  RunwayAlertSchema,
  TopUpSchema,
} from './money-schemas.ts';
import { ModerationSchema, ParticipantSchema, RoomSchema, WatchdogSchema } from './room-schemas.ts';

export const DATA_SCHEMAS = ofSubjects({
  room: RoomSchema,
  participant: ParticipantSchema,
  moderation: ModerationSchema,
  watchdog: WatchdogSchema,
  credit: CreditSchema,
  balanceAlert: BalanceAlertSchema,
  runwayAlert: RunwayAlertSchema,
  budgetAlert: BudgetAlertSchema,
  topUp: TopUpSchema,
  paymentReversal: PaymentReversalSchema,
  paymentDispute: PaymentDisputeSchema,
  paymentDisputeEnd: PaymentDisputeEndSchema,
  cardExpiry: CardExpirySchema,
  grantExpiry: GrantExpirySchema,
  conflictingDuplicates: ConflictingDuplicatesSchema,
  readyStatement: ReadyStatementSchema,
  tenantStatus: TenantStatusSchema,
  apiKey: ApiKeyChangeSchema,
  keyRetirement: KeyRetirementSchema,
  deviceCredential: DeviceCredentialChangeSchema,
  webhookPause: WebhookPauseSchema,
});

/** The data of the event that tries out a webhook. */
export const TestDataSchema = Type.Object(
  { message: Type.String({ description: 'A sentence for people' }) },
  { description: 'A test' },
);

/** Does not compile if a schema describes anything else than the public form of its subject. */
function ofSubjects<T extends Readonly<Record<keyof PublicSubjects, TSchema>>>(
  schemas: T & {
    readonly [S in keyof T]: S extends keyof PublicSubjects ? Checked<T[S], PublicData<S>> : never;
  },
): T {
  return schemas;
}

type Checked<S extends TSchema, Data> = IsSame<Static<S>, Data> extends true ? S : never;

/** Types without their members that may be absent are equal, and so are types in which every member is there. */
type IsSame<A, B> = Both<A, B> extends true ? Both<Whole<A>, Whole<B>> : false;

type Both<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;

type Whole<T> = T extends object ? { [K in keyof T]-?: Whole<T[K]> } : T;
