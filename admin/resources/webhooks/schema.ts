import * as v from 'valibot';
import { listOf, nullableText, nullableTime, time, uuid } from '../../http/reply/reply-schemas.ts';
import { name, pageEntries, search, slug, tenantEntries } from '../../http/request/schemas.ts';
import { subscribableEvents } from './events.ts';

const url = v.pipe(
  v.string(),
  v.maxLength(2_048, 'at most 2,048 characters'),
  v.check(
    (text) => URL.parse(text)?.protocol === 'https:' || URL.parse(text)?.protocol === 'http:',
    'a http or https URL is expected',
  ),
);
const events = v.pipe(
  v.array(v.picklist(subscribableEvents, `one of ${subscribableEvents.join(', ')} is expected`)),
  v.minLength(1, 'must not be empty'),
  v.maxLength(subscribableEvents.length, 'each event once'),
);
const status = v.picklist(['active', 'paused']);

export const createBody = v.strictObject({
  ...tenantEntries,
  name,
  slug: v.optional(slug),
  url,
  events,
  status: v.optional(status, 'active'),
});

/** Omitted fields keep their value. */
export const updateBody = v.strictObject({
  ...tenantEntries,
  name: v.optional(name),
  url: v.optional(url),
  events: v.optional(events),
  status: v.optional(status),
});

/** Body of requests that have no other input. */
export const tenantBody = v.strictObject({ ...tenantEntries });

export const listQuery = v.strictObject({ ...tenantEntries, ...pageEntries, search });

/** The only reply with the signing secret. */
export const createReply = v.strictObject({ id: uuid, slug: v.string(), secret: v.string(), object: v.literal('webhook') });
export const secretReply = v.strictObject({ id: uuid, secret: v.string(), object: v.literal('webhook') });

export const readReply = v.strictObject({
  id: uuid,
  slug: v.string(),
  name: v.string(),
  url: v.string(),
  events: v.array(v.picklist(subscribableEvents)),
  status,
  organisation_id: v.string(),
  workspace_id: v.string(),
  created_at: time,
  last_updated_at: time,
  object: v.literal('webhook'),
});
export const listReply = listOf(readReply);

export const deliveryReply = v.strictObject({
  id: uuid,
  webhook_id: uuid,
  event: v.picklist([...subscribableEvents, 'webhook.test']),
  data: v.record(v.string(), v.unknown()),
  status: v.picklist(['pending', 'delivered', 'failed']),
  attempts: v.number(),
  response_status: v.nullable(v.number()),
  error: nullableText,
  created_at: time,
  last_attempt_at: nullableTime,
  object: v.literal('webhook_delivery'),
});
export const deliveriesQuery = v.strictObject({
  ...tenantEntries,
  ...pageEntries,
  status: v.optional(v.picklist(['pending', 'delivered', 'failed'])),
});
export const deliveriesReply = listOf(deliveryReply);
export const addedReply = v.strictObject({ id: uuid, object: v.literal('webhook_delivery') });
