import { isUuid } from '../../core/contract/values/text/uuid.ts';
import type { AdminServices } from '../http/admin-services.ts';
import { invalid } from '../http/errors.ts';
import { quoteRates } from './quote-rates.ts';

/** Serves `GET /internal/v1/rates`. Throws AB01 if the query is incomplete. */
export async function serveRates({ database, clock }: AdminServices, query: Record<string, string>): Promise<object> {
  const { workspace: workspaceId = '', provider = '', slug = null, model = '' } = query;
  if (!isUuid(workspaceId)) throw invalid('workspace: a UUID is expected');
  if (provider === '' || model === '') throw invalid('provider and model are required');
  return { rates: await quoteRates(database.em(), { workspaceId, provider, providerSlug: slug, model }, clock.now()) };
}
