import * as v from 'valibot';
import { isObject, type JsonObject } from '../../../core/contract/values/json/json.ts';
import { oneOf } from '../../../core/contract/values/text/one-of.ts';
import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import { invalid } from '../errors.ts';
import { parseStrictJson } from './parse-strict-json.ts';

/** Pieces of request schemas that several resources share. Messages never repeat the value. */
const slugOrUuid = v.pipe(v.string(), v.regex(/^[a-zA-Z0-9_-]{1,255}$/, 'letters, digits, _ and - only, at most 255 of them'));

/** The slug of a new item. A slug in the form of a row id could never be found, because paths would take it for the id. */
export const slug = v.pipe(
  slugOrUuid,
  v.check((value) => !isUuid(value), 'must not be a UUID, because a UUID is read as an id'),
);

/**
 * Refuses control characters (`\p{Cc}`). The class is written out because it is part of the API description: many tools that
 * generate values from a pattern cannot read Unicode properties.
 */
export const noControlCharacters = v.regex(/^[^\u0000-\u001f\u007f-\u009f]*$/, 'control characters are not allowed');

export const name = v.pipe(
  v.string(),
  v.minLength(1, 'must not be empty'),
  v.maxLength(255, 'at most 255 characters'),
  v.check((value) => value.trim() !== '', 'must not be empty'),
  noControlCharacters,
);

/** The slug of a new MCP server, virtual server or agent: a segment of a path of the gateway. */
export const serverSlug = v.pipe(
  v.string(),
  v.regex(/^[a-zA-Z0-9_-]{3,50}$/, '3 to 50 letters, digits, _ and - are expected'),
  v.check((value) => !isUuid(value), 'must not be a UUID, because a UUID is read as an id'),
);

export const text = v.pipe(v.string(), v.maxLength(2_048, 'at most 2,048 characters'));

/** A description of one or two sentences. Null clears. */
export const shortDescription = v.nullish(v.pipe(v.string(), v.maxLength(500, 'at most 500 characters')));

export const id = v.pipe(v.string(), v.uuid('a UUID is expected'));

/** Id or slug of a workspace, an integration, … */
export const idOrSlug = slugOrUuid;

/** A field of an update that accepts only its current value: clients send it back with the rest. See `requireUnchanged`. */
export const unchanged = v.optional(slugOrUuid);

/** Throws AB01 if the sent field differs from every accepted form of the current value. */
export function requireUnchanged(field: string, sent: string | undefined, ...ways: readonly (string | null | undefined)[]): void {
  if (sent === undefined || ways.some((way) => way === sent || (isUuid(sent) && way === sent.toLowerCase()))) return;
  throw invalid(`${field}: cannot be changed. Create a new one instead`);
}

/** An ISO 8601 time on a day that exists, in the years that the database can read. */
export const timestamp = v.pipe(
  v.string(),
  v.isoTimestamp('an ISO 8601 time such as 2030-01-31T12:00:00Z is expected'),
  v.check((value) => isDay(value.slice(0, 10)), 'this date does not exist'),
  v.check((value) => isReadableYear(new Date(value)), 'must be in the years 1 to 9999 (UTC)'),
);

/** A time in a query, as Date. A date alone is the start of this day in UTC. */
export const queryTime = v.pipe(
  v.string(),
  v.metadata({ jsonSchema: { type: 'string', format: 'date-time' } }),
  // A + that was not encoded as %2B arrives as a space.
  v.transform((text) => text.replace(/ (?=\d\d:?\d\d$)/, '+').replace(/^\d{4}-\d\d-\d\d$/, '$&T00:00:00Z')),
  timestamp,
  v.transform((value) => new Date(value)),
);

/** Returns false for the years 0 and 10000, to which an offset can move a time. */
export function isReadableYear(time: Date): boolean {
  return time.getUTCFullYear() >= 1 && time.getUTCFullYear() <= 9999;
}

/** Returns true for a day that exists, such as `2026-11-23`. JavaScript reads February 31 as March 3. */
export function isDay(text: string): boolean {
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}

/** A moment in the future, as Date. */
export const futureTime = v.pipe(
  timestamp,
  v.transform((value) => new Date(value)),
  v.check((value) => value.getTime() > Date.now(), 'must be in the future'),
);

/** Flat map of short texts, used for metadata. */
export const textMap = v.pipe(
  v.record(
    v.pipe(v.string(), v.minLength(1), v.maxLength(128, 'keys have at most 128 characters')),
    v.pipe(v.string(), v.maxLength(128, 'at most 128 characters')),
  ),
  v.check((value) => Object.keys(value).length <= 50, 'at most 50 entries'),
);

/**
 * A setting that this build does not enforce yet. Empty values pass, so that clients which always send the field work. Other
 * values are refused, because a stored limit without effect would mislead.
 */
export const notEnforced = onlyEmpty('not supported by this version. Remove it');

/** A field that is accepted only while empty. `message` is the error for other values. */
export function onlyEmpty(message: string) {
  return v.optional(
    v.pipe(
      v.unknown(),
      v.metadata({
        jsonSchema: { anyOf: [{ type: 'null' }, { const: false }, { const: '' }, { type: 'array', items: {}, maxItems: 0 }] },
      }),
      v.check(isEmpty, message),
      v.transform(() => undefined),
    ),
  );
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === false || value === '') return true;
  return Array.isArray(value) && value.length === 0;
}

/** Tags that clients set for their own use. Null clears. */
export const tags = v.nullish(
  v.pipe(
    v.record(v.string(), v.unknown()),
    v.check((value) => JSON.stringify(value).length <= 4_096, 'at most 4 KiB'),
  ),
);

/** `tags` of a list: a JSON object. Only items with all of its entries are listed. */
export const tagsFilter = v.optional(
  v.pipe(
    v.string(),
    v.metadata({
      jsonSchema: { type: 'string', maxLength: 4_096, contentMediaType: 'application/json', contentSchema: { type: 'object' } },
    }),
    v.maxLength(4_096, 'at most 4,096 characters'),
    v.check((text) => isObject(parsed(text)), 'a JSON object such as {"team":"a"} is expected'),
    v.transform((text) => parsed(text) as JsonObject),
  ),
);

function parsed(text: string): unknown {
  try {
    // The database cannot store such a value, so searching for it would fail.
    return parseStrictJson(text, 'tags');
  } catch {
    return undefined;
  }
}

const flag = oneOf(['true', 'false']);

/** A boolean in a query. Python writes `True`, which is read as `true`. */
export const queryFlag = v.optional(
  v.pipe(
    v.string(),
    v.metadata({ jsonSchema: { type: 'string', enum: ['true', 'false'] } }),
    v.transform((text) => (/^(true|false)$/i.test(text) ? text.toLowerCase() : text)),
    flag,
  ),
);

/** Tenant fields that every request may send. */
export const tenantEntries = { workspace_id: v.optional(idOrSlug), organisation_id: v.optional(id) };

/** The same in updates of items that may belong to the organisation: these are read with `workspace_id: null`, which can be sent back. `AdminCall.match` refuses null for other items. */
export const ownerEntries = { ...tenantEntries, workspace_id: v.nullish(idOrSlug) };

export const tenantQuery = v.strictObject(tenantEntries);

/** The query of a deletion that is rejected while the row is in use: `force=true` deletes it anyway. */
export const forceQuery = v.strictObject({
  ...tenantEntries,
  force: queryFlag,
});

/** A whole number from `least` to `most`, in a query. */
export const wholeNumber = (least: number, most: number) =>
  v.pipe(
    v.string(),
    v.regex(/^\d{1,9}$/, 'a whole number is expected'),
    // The API description shows a number, because clients send one.
    v.metadata({ jsonSchema: { type: 'integer', minimum: least, maximum: most } }),
    v.transform(Number),
    v.minValue(least, `at least ${least}`),
    v.maxValue(most, `at most ${most}`),
  );

/** `current_page` of every list: counts from 0. */
export const currentPage = v.optional(wholeNumber(0, 1_000_000), '0');

/** `search` of a list: a part of a name. */
export const search = v.optional(v.pipe(v.string(), v.maxLength(255, 'at most 255 characters')));

/** `page_size` of lists that also accept 0, which is the default size. */
export const pageSizeFromZero = v.optional(
  v.pipe(
    wholeNumber(0, 1_000),
    v.transform((size) => (size === 0 ? 100 : size)),
  ),
  '100',
);

export const pageEntries = { current_page: currentPage, page_size: v.optional(wholeNumber(1, 100), '100') };

export interface Page {
  readonly current_page: number;
  readonly page_size: number;
}

/** Limit and offset of a page. */
export function pageOf(query: Page): { limit: number; offset: number } {
  return { limit: query.page_size, offset: query.current_page * query.page_size };
}
