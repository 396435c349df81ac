import { isUuid } from '../db/new-id.ts';

/**
 * The condition that finds one item of the caller's tenant by row id or slug. The tenant is always part of it, so an id of
 * somebody else finds nothing.
 */
export function itemOf(
  call: { readonly organisationId: string; readonly workspaceId: string | null },
  idOrSlug: string,
): { organisationId: string; workspaceId?: string; id?: string; slug?: string } {
  return {
    ...(isUuid(idOrSlug) ? { id: idOrSlug } : { slug: idOrSlug }),
    organisationId: call.organisationId,
    ...(call.workspaceId === null ? {} : { workspaceId: call.workspaceId }),
  };
}
