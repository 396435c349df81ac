import type { PassedFormat } from '../../contract/provider/passed-usage.ts';
import { isObject } from '../../contract/values/json/json.ts';
import { statedCount } from '../../contract/values/models/usage.ts';
import { unitUsage } from '../../formats/media/media-usage.ts';
import { usageOf } from './usage.ts';

/** Usage in `meta` of a reply, or in the `usage` of newer versions: tokens, or searches of rerank. */
export const coherePassed: PassedFormat = {
  locations: { meta: { billed_units: true, tokens: true } },
  bare: ['meta.billed_units', 'meta.tokens'],
  read(counts) {
    const { billed_units: billed, tokens } = counts;
    if (!isObject(billed) && !isObject(tokens)) return null;
    const searches = isObject(billed) ? statedCount(billed.search_units) : Number.NaN;
    return Number.isNaN(searches) ? usageOf(counts) : unitUsage('search_units', searches, counts);
  },
};
