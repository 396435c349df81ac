import * as v from 'valibot';
import { oneOf } from '../../../core/contract/values/text/one-of.ts';
import { nullableText, nullableUuid, time as sentTime, uuid } from '../../http/reply/reply-schemas.ts';
import { currentPage, queryTime, tenantEntries, wholeNumber } from '../../http/request/schemas.ts';

/** Maximum number of entries in one reply: of a page as JSON, and of an export as CSV. */
export const pageSizeMax = 100;
export const csvSizeMax = 10_000;

const time = v.pipe(
  queryTime,
  v.check((value) => value.getTime() >= 0, 'must not be before 1970'),
);
const word = v.pipe(v.string(), v.maxLength(2_048));
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const method = v.picklist(methods, `one of ${methods.join(', ')} is expected`);
const userType = oneOf(['user', 'api_key', 'system']);

export const listQuery = v.strictObject({
  ...tenantEntries,
  current_page: currentPage,
  /** 0 is the default size. */
  page_size: v.optional(wholeNumber(0, csvSizeMax), '0'),
  start_time: time,
  end_time: time,
  method: v.optional(method),
  uri: v.optional(word),
  request_id: v.optional(word),
  user_id: v.optional(v.pipe(v.string(), v.uuid('a UUID is expected'))),
  user_type: v.optional(userType),
  response_status_code: v.optional(v.pipe(v.string(), v.regex(/^\d{3}$/, 'a status code is expected'), v.transform(Number))),
  resource_type: v.optional(word),
  action: v.optional(word),
  client_ip: v.optional(word),
  country: v.optional(v.pipe(v.string(), v.regex(/^[A-Za-z]{2}$/, 'a code of two letters is expected'), v.toUpperCase())),
});

export type ListQuery = v.InferOutput<typeof listQuery>;

const record = v.strictObject({
  id: uuid,
  timestamp: sentTime,
  method,
  uri: v.string(),
  request_id: v.string(),
  /** JSON of the body with masked secrets. */
  request_body: nullableText,
  /** JSON objects of strings. */
  query_params: v.string(),
  request_headers: v.string(),
  user_id: nullableUuid,
  user_type: userType,
  organisation_id: uuid,
  workspace_id: nullableUuid,
  response_status_code: v.number(),
  error_code: nullableText,
  resource_type: v.string(),
  resource_id: nullableText,
  action: v.string(),
  client_ip: v.string(),
  country: nullableText,
});

export type AuditRecord = v.InferOutput<typeof record>;

export const listReply = v.strictObject({ records: v.array(record), total: v.number(), object: v.literal('analytics-graph') });
