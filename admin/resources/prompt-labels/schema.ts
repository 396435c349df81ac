import * as v from 'valibot';
import { bothEnvelopes, listOf, nullableText, nullableUuid, time, uuid } from '../../http/reply/reply-schemas.ts';
import { id, ownerEntries, pageEntries, tenantEntries, text } from '../../http/request/schemas.ts';

/** `latest`, `default` and numbers name versions in references such as `pp-greeting@latest`. */
const name = v.pipe(
  v.string(),
  v.minLength(1, 'must not be empty'),
  v.maxLength(64, 'at most 64 characters'),
  v.regex(
    /^(?!latest$)(?!default$)(?!\d+$)[a-zA-Z0-9_-]*(?:[^@\sa-zA-Z0-9_-][a-zA-Z0-9_-]*)?$/,
    'letters, digits, _ and - are expected; latest, default and numbers are reserved',
  ),
  v.check((value) => /^[^\p{Cc}/]*$/u.test(value), 'slashes and control characters are not allowed'),
);

const description = v.nullish(text);
const colorCode = v.nullish(v.pipe(v.string(), v.maxLength(32, 'at most 32 characters')));

/** Clients of the reference also spell it this way. */
const organization_id = v.optional(id);

export const createBody = v.strictObject({ ...tenantEntries, organization_id, name, description, color_code: colorCode });

export const updateBody = v.strictObject({
  ...ownerEntries,
  organization_id,
  name: v.optional(name),
  description,
  color_code: colorCode,
});

export const listQuery = v.strictObject({
  ...tenantEntries,
  ...pageEntries,
  organization_id,
  search: v.optional(text),
  name: v.optional(text),
});

export const readQuery = v.strictObject({ ...tenantEntries, organization_id });

const rowEntries = {
  id: uuid,
  name: v.string(),
  description: nullableText,
  color_code: nullableText,
  organisation_id: uuid,
  workspace_id: nullableUuid,
  is_universal: v.boolean(),
  created_at: time,
  last_updated_at: time,
  status: v.picklist(['active', 'archived']),
};

export const listReply = listOf(v.strictObject(rowEntries));

export const receiptReply = bothEnvelopes({ id: uuid, object: v.literal('label') });

export const readReply = bothEnvelopes({ ...rowEntries, object: v.literal('label') });
