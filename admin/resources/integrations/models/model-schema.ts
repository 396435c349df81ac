import * as v from 'valibot';
import { nullableTime } from '../../../http/reply/reply-schemas.ts';
import { name, tenantEntries, timestamp } from '../../../http/request/schemas.ts';
import { pricingConfig } from '../../../pricing/schema.ts';
import { modelHeaders } from '../configurations/custom-headers.ts';

/** A model's name in its provider's spelling. */
const modelSlug = v.pipe(
  v.string(),
  v.minLength(1, 'must not be empty'),
  v.maxLength(255, 'at most 255 characters'),
  v.regex(/^[^\s,]+$/, 'without spaces and commas'),
);

const host = v.pipe(v.string(), v.minLength(1, 'must not be empty'), v.maxLength(2_048, 'at most 2,048 characters'));

const configurations = v.pipe(
  v.strictObject({ custom_host: v.nullish(host), custom_headers: v.nullish(modelHeaders) }),
  v.check((value) => Object.keys(value).length > 0, 'must not be empty'),
);

/** One model as sent. Omitted fields keep their value. Null clears a field. */
const model = v.strictObject({
  slug: modelSlug,
  /** Display name; a model without one is shown under its slug. */
  name: v.nullish(name),
  enabled: v.boolean(),
  is_custom: v.nullish(v.boolean()),
  is_finetune: v.nullish(v.boolean()),
  base_model_slug: v.nullish(modelSlug),
  configurations: v.nullish(configurations),
  custom_headers: v.nullish(modelHeaders),
  pricing_config: v.nullish(pricingConfig),
  /** Time from which the price applies. Default: now, and for the first price of a model all times. */
  pricing_effective_from: v.optional(timestamp),
  /** Ignored: clients send back the reply of a read. */
  pricing_versions: v.optional(v.array(v.looseObject({}))),
});
export type ModelBody = v.InferOutput<typeof model>;

export const modelsBody = v.strictObject({
  ...tenantEntries,
  models: v.pipe(
    v.array(model),
    v.maxLength(2_000, 'at most 2,000 models at once'),
    v.check((list) => new Set(list.map(({ slug }) => slug)).size === list.length, 'the same model twice'),
  ),
  allow_all_models: v.optional(v.boolean()),
});
export type ModelsBody = v.InferOutput<typeof modelsBody>;

export const deleteModelsQuery = v.strictObject({
  ...tenantEntries,
  slugs: v.optional(
    v.pipe(
      v.string(),
      v.minLength(1, 'names of models, with commas between them'),
      v.maxLength(16_384),
      v.transform((text) => text.split(',').map((one) => one.trim())),
      v.check((list) => list.every((one) => one !== ''), 'names of models, with commas between them'),
    ),
  ),
});

/** The same list in the form of the Terraform provider. */
export const deleteModelsBody = v.strictObject({
  ...tenantEntries,
  models: v.optional(v.pipe(v.array(modelSlug), v.maxLength(2_000, 'at most 2,000 models at once'))),
});

export const modelsReply = v.strictObject({
  object: v.literal('list'),
  total: v.number(),
  allow_all_models: v.boolean(),
  models: v.array(
    v.strictObject({
      slug: v.string(),
      name: v.string(),
      enabled: v.boolean(),
      is_custom: v.boolean(),
      is_finetune: v.boolean(),
      base_model_slug: v.nullable(v.string()),
      configurations: v.nullable(
        v.strictObject({
          custom_host: v.optional(v.string()),
          /** Values that look like credentials are masked. */
          custom_headers: v.optional(v.record(v.string(), v.string())),
        }),
      ),
      pricing_config: v.nullable(pricingConfig),
      /** Saved prices, oldest first, if there were several; null as time: from the beginning. */
      pricing_versions: v.array(v.strictObject({ effective_from: nullableTime, pricing_config: v.nullable(pricingConfig) })),
    }),
  ),
});
