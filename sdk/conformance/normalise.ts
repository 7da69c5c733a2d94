/** What is equal in the outcomes of two SDKs although it looks different, and what has to differ. */
import type { Json } from './driver.ts';

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
const ROOM_UID = /^rm_[0-9a-f]{32}$/;
const KEY_ID = /^[0-9a-f]{16}$/;
const TEXT = /./;

/** Members that differ by nature, with the form that they must have. Other values stay, so that they are seen. */
const MASKS: Readonly<Record<string, RegExp>> = {
  ...Object.fromEntries(
    [
      ...['empty_time', 'first_time'],
      ...['time', 'at', 'deadline', 'created_at', 'retires_at', 'revoked_at', 'old_key_retires'],
      ...['granted_at', 'expires_at'],
      ...['create_time', 'end_time', 'enter_time', 'last_seen_time', 'expire_time', 'leave_time'],
      ...['first_at', 'last_at', 'finished_at', 'from', 'to', 'hour', 'day'],
      ...['raised_at', 'empty_at', 'ended_at', 'paused_at', 'retry_at', 'old_secret_retires', 'timestamp'],
      ...['entered_at', 'left_at', 'assigned_until', 'period_started_at', 'period_start_time'],
      ...['fire_time', 'retire_time', 'revoke_time', 'replaced_retire_time', 'old_credential_retire_time'],
    ].map((name) => [name, TIME]),
  ),
  uid: /^(rm|bu)_[0-9a-f]{32}$/,
  room_uid: ROOM_UID,
  id: /^((wd|ban|er|wh|evt|au|se|gr)_[0-9a-f]{32}|whd_\d+|pi_\w+|t_[0-9a-f]{16}|[0-9a-f]{16}|\d+)$/,
  key_id: /^([0-9a-f]{16}|[A-Za-z0-9_-]{43})$/,
  watchdog_id: /^wd_[0-9a-f]{32}$/,
  replaced_id: KEY_ID,
  tenant: /^t_[0-9a-f]{16}$/,
  token: /^[\w-]+\.[\w-]+\.[\w-]+$/,
  credential: /^dev_[0-9a-f]{16}_/,
  api_key: /^svc_[0-9a-f]{16}_/,
  resume_token: TEXT,
  checkout_url: /^https?:\/\//,
  portal_url: /^https?:\/\//,
  url: /^https?:\/\//,
  invoice_url: /^https?:\/\//,
  jws: /^[\w-]+\.[\w-]+\.[\w-]+$/,
  seq: /^\d+$/,
  retry_after_ms: /^\d+(\.\d+)?$/,
  payment_id: TEXT,
  event_id: /^evt_[0-9a-f]{32}$/,
  secret: /^whsec_[A-Za-z0-9+/]{43}=$/,
  public_key: /^whpk_[A-Za-z0-9+/]{43}=$/,
  public_keys: /^whpk_[A-Za-z0-9+/]{43}=$/,
  delivered_seq: /^\d+$/,
  after: /^\d+$/,
  latency_ms: /^\d+$/,
  subject: KEY_ID,
  next_cursor: TEXT,
};

/** The outcome in the form in which outcomes are compared. */
export function normalise(value: Json, name = ''): Json {
  if (Array.isArray(value)) {
    return value.map((each) => normalise(each, typeof each === 'string' ? name : ''));
  }
  if (typeof value === 'object' && value !== null) return normaliseObject(value, name);
  const form = MASKS[name];
  const isMasked = form !== undefined && (typeof value === 'string' || typeof value === 'number');
  return isMasked && form.test(String(value)) ? `<${name}>` : value;
}

function normaliseObject(value: Readonly<Record<string, Json>>, name: string): Json {
  const object = name === 'error' ? normaliseError(value) : value;
  const entries = Object.entries(object)
    .map(([key, each]): [string, Json] => [key, normalise(each, key)])
    .filter(([, each]) => !isEmpty(each));
  return Object.fromEntries(entries);
}

/** Only the service's own words are the same in all languages. */
function normaliseError(error: Readonly<Record<string, Json>>): Readonly<Record<string, Json>> {
  const { message, code, fields, ...rest } = error;
  return {
    ...rest,
    ...(error.has_request_id && { message }),
    code: /^\d+$/.test(code) ? Number(code) : code,
    fields: (fields ?? []).filter((each: string) => each !== ''),
  };
}

/** What one SDK leaves out, and another one writes. */
function isEmpty(value: Json): boolean {
  if (value === undefined || value === null || value === '' || value === 0 || value === false) return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
