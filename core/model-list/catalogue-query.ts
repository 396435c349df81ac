import * as v from 'valibot';
import { GatewayError } from '../contract/values/errors/errors.ts';
import { oneOf } from '../contract/values/text/one-of.ts';
import type { CatalogueModel } from './catalogue.ts';

const wholeNumber = v.pipe(v.string(), v.regex(/^\d{1,6}$/, 'a whole number is expected'), v.transform(Number));

const query = v.object({
  /** Type of the provider: `openai`. */
  ai_service: v.optional(v.string()),
  /** Slug of the provider, with or without `@`. */
  provider: v.optional(v.string()),
  limit: v.optional(wholeNumber),
  offset: v.optional(wholeNumber, '0'),
  sort: v.optional(oneOf(['name', 'provider', 'ai_service']), 'name'),
  order: v.optional(oneOf(['asc', 'desc']), 'asc'),
});

const sortKeys = {
  name: (model: CatalogueModel) => model.slug,
  provider: (model: CatalogueModel) => model.provider,
  ai_service: (model: CatalogueModel) => model.owned_by,
};

/** Filters, sorts and limits the catalogue by the query. Throws `bad_request` naming the invalid parameter. */
export function pickModels(models: readonly CatalogueModel[], given: URLSearchParams) {
  const { ai_service: type, provider, limit, offset, sort, order } = readQuery(query, given);
  const slug = provider?.replace(/^@/, '');
  const found = models.filter(
    (model) => (type === undefined || model.owned_by === type) && (slug === undefined || model.provider === slug),
  );
  const keyOf = sortKeys[sort];
  const direction = order === 'asc' ? 1 : -1;
  found.sort((a, b) => direction * (compare(keyOf(a), keyOf(b)) || compare(a.id, b.id)));
  return { models: found.slice(offset, limit === undefined ? undefined : offset + limit), total: found.length };
}

/** Returns the parameters of a query, the last one if a name is repeated. Throws `bad_request` naming the invalid parameter. */
export function readQuery<Schema extends v.GenericSchema>(schema: Schema, given: URLSearchParams): v.InferOutput<Schema> {
  const parsed = v.safeParse(schema, Object.fromEntries(given));
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  throw invalidParameter(String(issue.path?.[0]?.key ?? 'query'), issue.message);
}

export function invalidParameter(name: string, problem: string): GatewayError {
  return new GatewayError('bad_request', { message: `${name}: ${problem}`, param: name });
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
