import type { PromptDocument, PromptVersionDocument } from '../../../core/contract/protocol/prompts.ts';
import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { sharedWithOf } from '../prompt-partials/share.ts';
import { type PromptVersion, prompts, promptVersions } from './entity.ts';
import { namedLabels } from './versions.ts';

/**
 * Returns the document of a prompt. Its id is `<owner id>/<slug or id>`, or `<owner id>/<id>/<number>` for a single version. The owner is
 * the workspace, or for shared prompts also the organisation. Null if there is none.
 */
export async function toPromptDocument(em: EntityManager, id: string): Promise<PromptDocument | null> {
  const [ownerId = '', name = '', pinned, ...rest] = id.split('/');
  if (!isUuid(ownerId) || rest.length > 0 || (pinned !== undefined && !/^[1-9]\d{0,8}$/.test(pinned))) return null;
  const prompt = await em.findOne(prompts, {
    ...(isUuid(name) ? { id: name } : { slug: name }),
    status: 'active',
    $or: [{ workspaceId: ownerId }, { organisationId: ownerId, sharedWith: { $ne: null } }],
  });
  if (!prompt) return null;
  const labels = await namedLabels(em, prompt);
  const eager = [prompt.version, prompt.latestVersion, ...Object.values(labels).flatMap((all) => all.map((one) => one.version))];
  const numbers = pinned === undefined ? [...new Set(eager)] : [Number(pinned)];
  const versions = await em.find(promptVersions, { promptId: prompt.id, number: { $in: numbers } });
  if (versions.length === 0) return null;
  const { slug, organisationId, workspaceId } = prompt;
  return {
    ...{ id: prompt.id, slug, organisationId, workspaceId },
    sharedWith: sharedWithOf(prompt),
    versions: Object.fromEntries(versions.map((version) => [String(version.number), toVersion(version)])),
    default: prompt.version,
    latest: prompt.latestVersion,
    labels,
  };
}

function toVersion(version: PromptVersion): PromptVersionDocument {
  return {
    id: version.id,
    template: version.string,
    isRaw: version.isRawTemplate,
    parameters: version.parameters,
    model: version.model ?? null,
    virtualKey: version.virtualKey ?? null,
    functions: version.functions ?? null,
    tools: version.tools ?? null,
    toolChoice: version.toolChoice ?? null,
    metadata: version.templateMetadata ?? null,
  };
}
