/** Micro-USD per image by quality and size, each with a `default`. */
export type ImageRates = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** Returns the price of one image. Unlisted qualities and sizes use `default`. Undefined: there is no price. */
export function imageRate(rates: ImageRates, quality: unknown, size: unknown): number | undefined {
  const ofQuality = own(rates, quality) ?? rates.default;
  return ofQuality && (own(ofQuality, size) ?? ofQuality.default);
}

function own<Value>(from: Readonly<Record<string, Value>>, name: unknown): Value | undefined {
  return typeof name === 'string' && Object.hasOwn(from, name) ? from[name] : undefined;
}
