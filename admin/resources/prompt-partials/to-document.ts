import type { PromptPartialDocument } from '../../../core/contract/protocol/prompts.ts';
import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { promptPartials, promptPartialVersions } from './entity.ts';
import { sharedWithOf } from './share.ts';

/**
 * Returns the document of a partial. Its id is `<owner id>/<slug or id>`, or `<owner id>/<id>/<number>` for a single version. The owner is
 * the workspace, or for shared partials also the organisation. Null if there is none.
 */
export async function toPartialDocument(em: EntityManager, id: string): Promise<PromptPartialDocument | null> {
  const [ownerId = '', name = '', pinned, ...rest] = id.split('/');
  if (!isUuid(ownerId) || rest.length > 0 || (pinned !== undefined && !/^[1-9]\d{0,8}$/.test(pinned))) return null;
  const partial = await em.findOne(promptPartials, {
    ...(isUuid(name) ? { id: name } : { slug: name }),
    status: 'active',
    $or: [{ workspaceId: ownerId }, { organisationId: ownerId, sharedWith: { $ne: null } }],
  });
  if (!partial) return null;
  const numbers = pinned === undefined ? [partial.version, partial.latestVersion] : [Number(pinned)];
  const versions = await em.find(promptPartialVersions, { partialId: partial.id, number: { $in: numbers } });
  if (versions.length === 0) return null;
  const { slug, organisationId, workspaceId } = partial;
  return {
    ...{ id: partial.id, slug, organisationId, workspaceId },
    sharedWith: sharedWithOf(partial),
    versions: Object.fromEntries(versions.map((one) => [String(one.number), { id: one.id, text: one.string }])),
    default: partial.version,
    latest: partial.latestVersion,
  };
}
