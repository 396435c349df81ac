import * as v from 'valibot';
import { listOf, nullableTime, time, uuid } from '../../http/reply/reply-schemas.ts';
import { id, pageEntries, tenantEntries } from '../../http/request/schemas.ts';
import { emailDomain } from '../../identity/schema.ts';

export const createBody = v.strictObject({
  organisation_id: v.optional(id),
  domain: emailDomain,
  allow_subdomains: v.optional(v.boolean(), false),
});

export const updateBody = v.strictObject({ organisation_id: v.optional(id), allow_subdomains: v.boolean() });

export const verifyBody = v.strictObject({ organisation_id: v.optional(id) });

export const listQuery = v.strictObject({ organisation_id: tenantEntries.organisation_id, ...pageEntries });

export const readReply = v.strictObject({
  id: uuid,
  domain: v.string(),
  allow_subdomains: v.boolean(),
  status: v.picklist(['pending', 'verified']),
  verified_at: nullableTime,
  /** The DNS record that proves the ownership. */
  dns_record: v.strictObject({ type: v.literal('TXT'), name: v.string(), value: v.string() }),
  organisation_id: uuid,
  created_at: time,
  last_updated_at: time,
  object: v.literal('email-domain'),
});
export const listReply = listOf(readReply);
