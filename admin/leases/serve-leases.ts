import * as v from 'valibot';
import { leasesBody } from '../../core/contract/protocol/limits/leases.ts';
import { issueText } from '../../core/contract/values/errors/input-issues.ts';
import type { AdminServices } from '../http/admin-services.ts';
import { invalid } from '../http/errors.ts';
import { endHolders, grantLeases } from './ledger.ts';

/** Serves `POST /internal/v1/leases`. Calls `onRejected` if budgets have rejected calls. Throws AB01 if the body is invalid. */
export async function serveLeases(
  { database, clock }: AdminServices,
  bytes: Uint8Array,
  onRejected: () => void,
): Promise<object> {
  let body: unknown;
  try {
    body = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));
  } catch {
    throw invalid('body: not valid JSON');
  }
  const parsed = v.safeParse(leasesBody, body, { abortEarly: true });
  if (!parsed.success) throw invalid(issueText(parsed.issues[0], 'body'));
  const { asks, holder, endedHolders } = parsed.output;
  await endHolders(database, endedHolders);
  const grants = await grantLeases(database, asks, clock.now(), holder);
  if (asks.some((ask) => ask.kind === 'budget' && ask.refused !== undefined)) onRejected();
  return { grants };
}
