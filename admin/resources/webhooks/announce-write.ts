import type { EntityManager } from '../../db/open-database.ts';
import type { Write } from '../../http/admin-services.ts';
import { addDeliveries } from './add-deliveries.ts';

/** Actions that leave the item as it is. */
const withoutChange: ReadonlySet<string> = new Set(['test', 'replay']);

/** Resources that programs of the workspace write with each of their calls. Their events would delay those of budgets. */
const dataOfCalls: ReadonlySet<string> = new Set(['feedbacks']);

/** Adds an `item.changed` event for the workspace of an item that a request has created, changed or deleted. Returns true if it has deliveries. */
export async function announceWrite(tx: EntityManager, { actor, resource, action, item }: Write): Promise<boolean> {
  if (withoutChange.has(action) || dataOfCalls.has(resource)) return false;
  const { organisationId } = actor;
  const { workspaceId } = item;
  const data = {
    ...{ resource, action, id: item.id, slug: item.slug ?? null },
    ...{ workspace_id: workspaceId, organisation_id: organisationId },
    changed_by: actor.userId === null ? { type: 'api_key', id: actor.keyId } : { type: 'user', id: actor.userId },
  };
  return addDeliveries(tx, { organisationId, workspaceId, event: 'item.changed', data });
}
