import * as v from 'valibot';
import { leasesBody } from '../../core/contract/protocol/leases.ts';
import { isUuid } from '../db/new-id.ts';
import { invalid } from '../http/errors.ts';
import type { AdminServices } from '../http/route.ts';
import { endHolders, grantLeases } from './ledger.ts';
import { quoteRates } from './quote-rates.ts';

/** Answers `POST /internal/v1/leases`. Throws AB01 when the body is not one. */
export async function serveLeases({ database, clock }: AdminServices, bytes: Uint8Array): Promise<object> {
  let body: unknown;
  try {
    body = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));
  } catch {
    throw invalid('body: not valid JSON');
  }
  const parsed = v.safeParse(leasesBody, body, { abortEarly: true });
  if (!parsed.success) throw invalid(`${v.getDotPath(parsed.issues[0]) ?? 'body'}: ${parsed.issues[0].message}`);
  const { asks, holder, endedHolders } = parsed.output;
  await endHolders(database, endedHolders);
  return { grants: await grantLeases(database, asks, clock.now(), holder) };
}

/** Answers `GET /internal/v1/rates`. Throws AB01 when the query is not complete. */
export async function serveRates({ database, clock }: AdminServices, query: Record<string, string>): Promise<object> {
  const { workspace: workspaceId = '', provider = '', slug = null, model = '' } = query;
  if (!isUuid(workspaceId)) throw invalid('workspace: a UUID is expected');
  if (provider === '' || model === '') throw invalid('provider and model are required');
  return { rates: await quoteRates(database.em(), { workspaceId, provider, providerSlug: slug, model }, clock.now()) };
}
