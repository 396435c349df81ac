import * as v from 'valibot';
import { oneOf } from '../../core/contract/values/text/one-of.ts';
import { attributesQuery } from './define-scim-route.ts';

/** Maximum number of resources of a page, also stated by ServiceProviderConfig. */
export const pageMax = 200;

const wholeText = v.pipe(v.string(), v.regex(/^-?\d{1,9}$/, 'a whole number is expected'));
const number = (fallback: string) => v.optional(v.pipe(wholeText, v.transform(Number)), fallback);

const short = v.pipe(v.string(), v.maxLength(255, 'at most 255 characters'));
const filterText = v.pipe(v.string(), v.maxLength(2_048, 'at most 2,048 characters'));

/** Query of every list. A `startIndex` below 1 counts as 1 and a negative `count` as 0 (RFC 7644 §3.4.2.4). */
export const listQuery = v.object({
  ...attributesQuery.entries,
  filter: v.optional(filterText),
  sortBy: v.optional(short),
  sortOrder: v.optional(oneOf(['ascending', 'descending']), 'ascending'),
  startIndex: v.pipe(
    number('1'),
    v.transform((value) => Math.max(value, 1)),
  ),
  count: v.pipe(
    number('100'),
    v.transform((value) => Math.min(Math.max(value, 0), pageMax)),
  ),
});

export type ListQuery = v.InferOutput<typeof listQuery>;

const names = v.optional(v.pipe(v.array(v.pipe(v.string(), v.maxLength(255))), v.maxLength(100)));
/** The client of the Java library SCIM-SDK sends texts. */
const whole = v.optional(
  v.union([v.pipe(v.number(), v.integer('a whole number is expected')), wholeText], 'a whole number is expected'),
);

/** Body of `POST …/.search` (RFC 7644 §3.4.3): the query of a list, for filters that must not be in a URL. */
export const searchBody = v.pipe(
  v.object({
    attributes: names,
    excludedAttributes: names,
    filter: v.optional(filterText),
    sortBy: v.optional(short),
    sortOrder: v.optional(short),
    startIndex: whole,
    count: whole,
  }),
  v.transform(({ attributes, excludedAttributes, startIndex, count, ...rest }) => ({
    ...rest,
    ...(attributes ? { attributes: attributes.join() } : {}),
    ...(excludedAttributes ? { excludedAttributes: excludedAttributes.join() } : {}),
    ...(startIndex === undefined ? {} : { startIndex: String(startIndex) }),
    ...(count === undefined ? {} : { count: String(count) }),
  })),
  listQuery,
);
