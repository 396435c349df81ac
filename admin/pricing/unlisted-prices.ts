import type { Rates } from './units.ts';

type Row = readonly [model: RegExp, rates: Pick<Rates, 'tokens' | 'units'>];

/** US dollars per million tokens. Null: cached input has no price of its own. */
const perToken = (input: number, cacheRead: number | null, output: number): Row[1] => ({
  tokens: {
    ...{ request_token: input, response_token: output },
    ...(cacheRead === null ? {} : { cache_read_input_token: cacheRead }),
  },
  units: {},
});
/** US dollars per million characters. */
const perCharacter = (price: number): Row[1] => ({ tokens: {}, units: { characters: price } });

/**
 * Prices that OpenAI publishes and the public list lacks, or has for a part of the names only: https://developers.openai.com/api/docs/pricing.
 * The first line that matches a model counts. Fine-tuned models of Azure have the price of their base, and a price per hour.
 */
const ofOpenAi: readonly Row[] = [
  [/^ft:gpt-4\.1-nano/, perToken(0.2, 0.05, 0.8)],
  [/^ft:gpt-4\.1-mini/, perToken(0.8, 0.2, 3.2)],
  [/^ft:gpt-4\.1/, perToken(3, 0.75, 12)],
  [/^ft:gpt-4o-mini/, perToken(0.3, 0.15, 1.2)],
  [/^ft:gpt-4o/, perToken(3.75, 1.875, 15)],
  [/^ft:o4-mini/, perToken(4, 1, 16)],
  [/^ft:gpt-3\.5-turbo/, perToken(3, null, 6)],
  [/^ft:davinci-002/, perToken(12, null, 12)],
  [/^ft:babbage-002/, perToken(1.6, null, 1.6)],
  [/^davinci-002$/, perToken(2, null, 2)],
  [/^babbage-002$/, perToken(0.4, null, 0.4)],
  [/^tts-1-hd(?:-\d+)?$/, perCharacter(30)],
  [/^tts-1(?:-\d+)?$/, perCharacter(15)],
];

/** How all of these names begin: most records have others and are not compared with each line. */
const beginnings = /^(?:ft:|davinci-|babbage-|tts-1)/;

/** Returns public rates that the list lacks, by the provider's id there. Null without one. */
export function unlistedRates(providerId: string, model: string): Rates | null {
  const found = providerId === 'openai' && beginnings.test(model) ? ofOpenAi.find(([pattern]) => pattern.test(model)) : undefined;
  return found ? { ...found[1], perRequest: 0 } : null;
}
