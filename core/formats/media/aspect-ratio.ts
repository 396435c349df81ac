import type { OperationCall } from '../../contract/provider/provider.ts';

/** Returns the ratio (`16:9`) nearest to a size (`1536x1024`). Null for other values (`auto`). */
export function nearestRatio(size: unknown, ratios: readonly string[]): string | null {
  const found = typeof size === 'string' ? /^(\d{2,5})x(\d{2,5})$/.exec(size) : null;
  if (!found) return null;
  const wanted = Math.log(Number(found[1]) / Number(found[2]));
  const distance = (ratio: string): number => {
    const [width = 1, height = 1] = ratio.split(':').map(Number);
    return Math.abs(Math.log(width / height) - wanted);
  };
  return ratios.reduce((best, ratio) => (distance(ratio) < distance(best) ? ratio : best));
}

/** Ratios of Stability's image models (https://platform.stability.ai/docs/api-reference, looked up 2026-11-21). */
const stabilityRatios = ['1:1', '16:9', '21:9', '2:3', '3:2', '4:5', '5:4', '9:16', '9:21'] as const;

/** Converts `size` to the `aspect_ratio` of Stability's models and reports it in `call.adapted`. Other values are dropped and reported in `call.dropped`. */
export function stabilityRatio(size: unknown, call: OperationCall): { readonly aspect_ratio?: string } {
  if (size === undefined || size === null || size === 'auto') return {};
  const ratio = nearestRatio(size, stabilityRatios);
  if (ratio === null) call.dropped.push('size');
  else call.adapted.push('size->aspect_ratio');
  return ratio === null ? {} : { aspect_ratio: ratio };
}
