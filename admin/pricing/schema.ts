import * as v from 'valibot';
import { tokenUnits } from './units.ts';

const factor = v.nullish(v.pipe(v.number(), v.finite(), v.minValue(0, 'at least 0'), v.maxValue(1_000_000)));
const price = v.strictObject({ price: v.pipe(v.number(), v.finite(), v.minValue(0, 'at least 0'), v.maxValue(1e9)) });
const unitName = v.pipe(v.string(), v.regex(/^[a-z0-9_]{1,64}$/, 'lower-case letters, digits and _ only'));

function perUnit<Schema extends v.GenericSchema>(schema: Schema) {
  return Object.fromEntries(tokenUnits.map((unit) => [unit, schema])) as Record<(typeof tokenUnits)[number], Schema>;
}

/**
 * Multipliers of an integration's prices (control-plane reference §1): by unit, else `default`, else 1. Null is the same as left
 * out.
 */
export const pricingAdjustments = v.strictObject({
  multiplier: v.strictObject({
    default: factor,
    ...perUnit(factor),
    image: v.nullish(v.strictObject({ default: factor })),
    additional_units: v.nullish(v.record(unitName, factor)),
  }),
});
export type PricingAdjustments = v.InferOutput<typeof pricingAdjustments>;

/**
 * Prices of one model as they are saved: US dollars per million tokens; `additional_units` and `fixed_cost` in US dollars per unit
 * and per request.
 */
export const pricingConfig = v.strictObject({
  type: v.optional(v.literal('static', 'static is expected'), 'static'),
  pay_as_you_go: v.strictObject({
    ...perUnit(v.optional(price)),
    additional_units: v.optional(v.record(unitName, price)),
    fixed_cost: v.optional(price),
  }),
});
export type PricingConfig = v.InferOutput<typeof pricingConfig>;
