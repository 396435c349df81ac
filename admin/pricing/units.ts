import type { ImageRates } from '../../core/contract/values/models/image-rate.ts';
import type { Calculation } from './calculation.ts';

/** Units of tokens that have prices of their own. */
export const tokenUnits = [
  'request_token',
  'response_token',
  'cache_write_input_token',
  'cache_read_input_token',
  'request_audio_token',
  'response_audio_token',
  'cache_read_audio_input_token',
  'request_image_token',
  'response_image_token',
  'cache_read_image_input_token',
  'request_text_token',
  'response_text_token',
  'cache_read_text_input_token',
  'cache_write_text_input_token',
  'cache_write_image_input_token',
  'reasoning_token',
  'prediction_accepted_token',
  'prediction_rejected_token',
] as const;
export type TokenUnit = (typeof tokenUnits)[number];

/** Other spellings of units in saved prices. */
export const unitAliases = {
  cached_image_input_token: 'cache_read_image_input_token',
  cached_text_input_token: 'cache_read_text_input_token',
} as const satisfies Record<string, TokenUnit>;

/** Prices of one model, in micro-USD per unit (US dollars per million tokens are the same number). */
export interface Rates {
  readonly tokens: Readonly<Partial<Record<TokenUnit, number>>>;
  /** `web_search`, `generated_images`, `audio_seconds`, … */
  readonly units: Readonly<Record<string, number>>;
  /** Added to the other prices, for each request. */
  readonly perRequest: number;
  /** Per image, by quality and size, each with a `default`. Absent: images are `generated_images` of `units`. */
  readonly images?: ImageRates | undefined;
  /** Instead of tokens times rates, for the input or the output. */
  readonly calculate?: { readonly request?: Calculation | undefined; readonly response?: Calculation | undefined } | undefined;
}
