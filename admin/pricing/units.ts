/** Units of tokens that have prices of their own (semantics §6.1). */
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

/** Prices of one model, in micro-USD per unit (US dollars per million tokens are the same number). */
export interface Rates {
  readonly tokens: Readonly<Partial<Record<TokenUnit, number>>>;
  /** `web_search`, `generated_images`, `audio_seconds`, … */
  readonly units: Readonly<Record<string, number>>;
  /** Beside everything else, for each request. */
  readonly perRequest: number;
}
