import type { RequestRecord } from '../../core/contract/plugin/record/record.ts';
import { deliveredCallOf, discardedCallsOf } from '../pricing/price-record.ts';

/** A call to a provider, as a record with its usage alone. */
interface CountedCall {
  readonly record: RequestRecord;
  /** Whole nano-USD. */
  readonly costNano: number;
}

/**
 * Divides the usage and the cost of a request among the model that replied and those whose responses no client received. Costs of
 * such responses are 0 in records that do not name them, and the request's own then has all.
 */
export function usageByCall(
  record: RequestRecord,
  costNano: number,
): { readonly own: CountedCall; readonly others: readonly CountedCall[] } {
  const costs = (record.discarded ?? []).map((call) => call.costNano ?? 0);
  const others = discardedCallsOf(record).map((call, at) => ({ record: call, costNano: costs[at] as number }));
  const ownNano = Math.max(0, costNano - costs.reduce((sum, cost) => sum + cost, 0));
  return { own: { record: deliveredCallOf(record), costNano: ownNano }, others };
}
