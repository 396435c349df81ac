import * as v from 'valibot';
import { calculation, ratesIn } from './calculation.ts';
import { tokenUnits } from './units.ts';

const factor = v.nullish(v.pipe(v.number(), v.finite(), v.minValue(0, 'at least 0'), v.maxValue(1_000_000)));
const price = v.strictObject({ price: v.pipe(v.number(), v.finite(), v.minValue(0, 'at least 0'), v.maxValue(1e9)) });
const unitName = v.pipe(v.string(), v.regex(/^[a-z0-9_]{1,64}$/, 'lower-case letters, digits and _ only'));

function perUnit<Schema extends v.GenericSchema>(schema: Schema) {
  return Object.fromEntries(tokenUnits.map((unit) => [unit, schema])) as Record<(typeof tokenUnits)[number], Schema>;
}

/** Names of a quality or a size, `default` among them. */
const imageKind = v.pipe(v.string(), v.regex(/^[a-zA-Z0-9_.:-]{1,64}$/, 'letters, digits and _ . : - only'));
const imagePrices = v.pipe(
  v.record(imageKind, v.record(imageKind, price)),
  v.check((table) => JSON.stringify(table).length <= 8_192, 'at most 8 KiB'),
);

/** Multipliers of an integration's prices: by unit, else `default`, else 1. Null is the same as left out. */
export const pricingAdjustments = v.strictObject({
  multiplier: v.strictObject({
    default: factor,
    ...perUnit(factor),
    image: v.nullish(v.strictObject({ default: factor })),
    additional_units: v.nullish(v.record(unitName, factor)),
  }),
});
export type PricingAdjustments = v.InferOutput<typeof pricingAdjustments>;

const payAsYouGo = v.strictObject({
  ...perUnit(v.optional(price)),
  cached_image_input_token: v.optional(price),
  cached_text_input_token: v.optional(price),
  image: v.optional(imagePrices),
  additional_units: v.optional(v.record(unitName, price)),
  fixed_cost: v.optional(price),
});

/**
 * Saved prices of one model: US dollars per million tokens; `image`, `additional_units` and `fixed_cost` in US dollars per image,
 * per unit and per request. `calculate` defines the price of input or output if it is not tokens times price. `service_tiers`
 * holds the prices of service tiers (`flex`, `priority`, …). `batch_config` holds the prices of batches if they are not half of
 * the usual ones.
 */
export const pricingConfig = v.pipe(
  v.strictObject({
    type: v.optional(v.literal('static', 'static is expected'), 'static'),
    pay_as_you_go: payAsYouGo,
    calculate: v.optional(v.strictObject({ request: v.optional(calculation), response: v.optional(calculation) })),
    service_tiers: v.optional(
      v.pipe(
        v.record(unitName, v.strictObject({ pay_as_you_go: payAsYouGo })),
        v.check((tiers) => Object.keys(tiers).length <= 20, 'at most 20 tiers'),
      ),
    ),
    batch_config: v.optional(v.strictObject({ pay_as_you_go: payAsYouGo })),
  }),
  v.forward(
    v.partialCheck(
      [['calculate'], ['pay_as_you_go']],
      ({ calculate, pay_as_you_go: prices }) => {
        const named = [calculate?.request, calculate?.response].flatMap((one) => (one ? ratesIn(one) : []));
        return named.every((name) => Object.hasOwn(prices, name) || Object.hasOwn(prices.additional_units ?? {}, name));
      },
      'pay_as_you_go has no price for this rate',
    ),
    ['calculate'],
  ),
);
export type PricingConfig = v.InferOutput<typeof pricingConfig>;
export type PayAsYouGo = PricingConfig['pay_as_you_go'];
