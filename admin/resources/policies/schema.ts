import * as v from 'valibot';
import { metadataPrefix } from '../../../core/contract/protocol/limits/policies.ts';
import { oneOf } from '../../../core/contract/values/text/one-of.ts';
import { nullableText, time, uuid } from '../../http/reply/reply-schemas.ts';
import {
  currentPage,
  id,
  idOrSlug,
  noControlCharacters,
  pageSizeFromZero,
  search,
  tenantEntries,
} from '../../http/request/schemas.ts';

/** Parts of the schemas that both kinds of policies share. */
const name = v.pipe(v.string(), v.maxLength(255, 'at most 255 characters'), noControlCharacters);
const description = v.pipe(v.string(), v.maxLength(500, 'at most 500 characters'));

const value = v.pipe(
  v.string(),
  v.minLength(1, 'must not be empty'),
  v.maxLength(512, 'at most 512 characters'),
  noControlCharacters,
);
const values = v.union(
  [value, v.pipe(v.array(value), v.minLength(1, 'at least one value'), v.maxLength(1_000, 'at most 1,000 values'))],
  'a text or a list of texts is expected',
);

/** Schema of a key of conditions or groups: one of `keys`, or `metadata.<key>`. */
function keyOf(keys: readonly string[]) {
  const message = `one of ${keys.join(', ')} or ${metadataPrefix}<key> is expected`;
  return v.pipe(
    v.string(),
    v.maxLength(140, 'at most 140 characters'),
    noControlCharacters,
    v.check((key) => keys.includes(key) || (key.startsWith(metadataPrefix) && key.length > metadataPrefix.length), message),
  );
}

/** `conditions` as sent, over these keys. `excludes` without `value` matches all other values. */
export function conditionsOver(keys: readonly string[]) {
  const condition = v.pipe(
    v.strictObject({ key: keyOf(keys), value: v.optional(values), excludes: v.optional(values) }),
    v.check(({ value, excludes }) => value !== undefined || excludes !== undefined, 'value is required'),
    v.transform(({ key, value = '*', excludes }) => ({ key, value, ...(excludes === undefined ? {} : { excludes }) })),
  );
  return v.pipe(v.array(condition), v.minLength(1, 'at least one condition'), v.maxLength(50, 'at most 50 conditions'));
}

/** `group_by` as sent, over these keys. */
export function groupOver(keys: readonly string[]) {
  return v.pipe(
    v.array(v.strictObject({ key: keyOf(keys) })),
    v.minLength(1, 'at least one key'),
    v.maxLength(10, 'at most 10 keys'),
    v.check((list) => new Set(list.map((one) => one.key)).size === list.length, 'the same key twice'),
  );
}

export const createEntries = { ...tenantEntries, name: v.nullish(name), description: v.nullish(description) };

/** Fields that a change cannot set may repeat their value. */
export const updateEntries = {
  workspace_id: v.optional(idOrSlug),
  organisation_id: v.optional(id),
  name: v.nullish(name),
  description: v.nullish(description),
};

export const statusEntry = v.optional(oneOf(['active', 'archived']), 'active');

export const listEntries = {
  ...tenantEntries,
  current_page: currentPage,
  page_size: pageSizeFromZero,
  status: statusEntry,
  search,
};

const texts = v.union([v.string(), v.array(v.string())]);

export const replyEntries = {
  id: uuid,
  name: nullableText,
  description: nullableText,
  conditions: v.array(v.strictObject({ key: v.string(), value: texts, excludes: v.optional(texts) })),
  group_by: v.array(v.strictObject({ key: v.string() })),
  status: v.picklist(['active', 'archived']),
  workspace_id: uuid,
  organisation_id: uuid,
  created_at: time,
  last_updated_at: time,
};
