import { equalSecrets } from '../../values/credentials/equal-digests.ts';

/** Returns true if an `authorization` header may read the metrics: always without METRICS_TOKEN, else only with that bearer. */
export function mayReadMetrics(token: string | null, authorization: string | undefined): boolean {
  if (token === null) return true;
  return equalSecrets(`Bearer ${token}`, authorization ?? '');
}
