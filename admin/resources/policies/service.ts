import { isDeepStrictEqual } from 'node:util';
import { metadataPrefix, type PolicyTarget, policyKeys } from '../../../core/contract/protocol/limits/policies.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { WorkspaceTenant } from '../../db/tenant.ts';
import { invalid } from '../../http/errors.ts';
import type { Change } from '../../publish/write-change.ts';
import { ratePolicies, usagePolicies } from './entity.ts';

/** Active policies of each kind that a workspace may have: gateways hold all of them in memory. */
export const policiesMax = 20_000;

/** Gateways read the policies of the workspace again. */
export function announce(change: Change, row: { readonly id: string; readonly workspaceId: string }, isFirst = false): void {
  change.about(row);
  change.emit({ kind: 'workspace-policies', id: row.workspaceId, op: 'upsert' });
  // The workspace's document states if there has ever been a policy.
  if (isFirst) change.emit({ kind: 'workspace', id: row.workspaceId, op: 'upsert' });
}

/** Archives a policy: it applies no more. Its counters stay readable. */
export function archivePolicy(
  change: Change,
  row: { id: string; workspaceId: string; status: string; lastUpdatedAt: Date },
): void {
  row.status = 'archived';
  row.lastUpdatedAt = new Date();
  announce(change, row);
}

/** True if the workspace has never had a policy, including archived ones. Two first policies at the same time are both first. */
export async function isFirstPolicy(tx: EntityManager, { organisationId, workspaceId }: WorkspaceTenant): Promise<boolean> {
  const where = { organisationId, workspaceId };
  const found =
    (await tx.findOne(usagePolicies, where, { fields: ['id'] })) ?? (await tx.findOne(ratePolicies, where, { fields: ['id'] }));
  return found === null;
}

/** Throws AB01 if a field that cannot be changed has another value. */
export function requireSame(field: string, sent: unknown, current: unknown): void {
  if (sent === undefined || isDeepStrictEqual(sent, current)) return;
  throw invalid(`${field}: cannot be changed. Create a new policy instead`);
}

interface SentKeys {
  readonly conditions?: readonly { readonly key: string }[] | undefined;
  readonly group_by?: readonly { readonly key: string }[] | undefined;
}

/** Throws AB01 if a condition or group names a key of another target. */
export function checkKeys(target: PolicyTarget, sent: SentKeys): void {
  const keys: readonly string[] = policyKeys[target];
  for (const field of ['conditions', 'group_by'] as const) {
    for (const [at, { key }] of (sent[field] ?? []).entries()) {
      if (keys.includes(key) || key.startsWith(metadataPrefix)) continue;
      throw invalid(`${field}[${at}].key: ${key} does not exist for the target ${target}. Use one of ${keys.join(', ')}`);
    }
  }
}
