import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import type { Tenant } from '../../db/tenant.ts';

/**
 * Returns the filter for one item of the actor's tenant by row id or slug. It always contains the tenant, so an id of another
 * tenant matches nothing.
 */
export function itemOf(
  call: Tenant,
  idOrSlug: string,
): { organisationId: string; workspaceId?: string; id?: string; slug?: string } {
  return {
    ...(isUuid(idOrSlug) ? { id: idOrSlug } : { slug: idOrSlug }),
    organisationId: call.organisationId,
    ...(call.workspaceId === null ? {} : { workspaceId: call.workspaceId }),
  };
}
