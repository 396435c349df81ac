import type { WorkspaceDocument } from '../../../core/contract/protocol/documents.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { configs } from '../configs/entity.ts';
import { effectiveSetting, readTenancy } from '../organisations/effective-setting.ts';
import { blocksInlineConfig } from '../organisations/to-setting-reply.ts';
import { ratePolicies, usagePolicies } from '../policies/entity.ts';
import { workspaceExclusions } from '../workspace-exclusions/entity.ts';
import { type Workspace, workspaces } from './entity.ts';

/** Returns the document of a workspace, with the organisation's settings. Null if it does not exist or is archived. */
export async function toWorkspaceDocument(em: EntityManager, id: string): Promise<WorkspaceDocument | null> {
  const row = await em.findOne(workspaces, { id, status: 'active' });
  if (!row) return null;
  const tenancy = await readTenancy(em, row.organisationId, id);
  const config = await em.findOne(configs, { workspaceId: id, isDefault: true, status: 'active' });
  const excluded = new Set((await em.find(workspaceExclusions, { workspaceId: id })).map(({ kind }) => kind));
  // Archived ones count too: the value never returns to false, so only the first policy changes this document.
  const own = { organisationId: row.organisationId, workspaceId: id };
  const hasPolicies =
    (await em.findOne(usagePolicies, own, { fields: ['id'] })) !== null ||
    (await em.findOne(ratePolicies, own, { fields: ['id'] })) !== null;
  const defaults = tenancy.organisation.defaults;
  const slugs = (list: readonly { readonly slug: string }[] | null | undefined) => (list ?? []).map((one) => one.slug);
  return {
    id,
    slug: row.slug,
    organisationId: row.organisationId,
    defaultConfigSlug: config?.slug ?? null,
    metadata: row.metadata,
    settings: {
      blockInlineConfig: blocksInlineConfig(tenancy),
      debugLog: effectiveSetting<0 | 1>(tenancy, 'settings', 'debug_log') !== 0,
      keepErrorBodies: effectiveSetting<0 | 1>(tenancy, 'settings', 'debug_log_error_body') === 1,
      ignoreDebugHeader: tenancy.organisation.settings?.enforce_debug_log_setting === 1,
      userKeyMetadata: row.settings?.user_key_metadata === 1,
      userKeyMetadataOverride: row.settings?.user_key_metadata_override === 1,
      cacheTtlSeconds: tenancy.organisation.settings?.cache_ttl ?? null,
      cacheSimilarityThreshold: tenancy.organisation.settings?.cache_similarity_threshold ?? null,
    },
    guardrails: {
      organisationStart: slugs(defaults?.start_hooks),
      start: slugs(row.startHooks),
      organisationInput: excluded.has('input') ? [] : slugs(defaults?.input_guardrails),
      organisationOutput: excluded.has('output') ? [] : slugs(defaults?.output_guardrails),
      input: slugs(row.inputGuardrails),
      output: slugs(row.outputGuardrails),
    },
    ...toolGuardrailsOf(row),
    usageLimits: row.usageLimits ?? [],
    rateLimits: row.rateLimits ?? [],
    rejectUnmetered: row.rejectUnmetered,
    hasPolicies,
    cachePurges: row.cachePurges,
    cacheGeneration: row.cacheGeneration,
  };
}

function toolGuardrailsOf({ mcpInputGuardrails, mcpOutputGuardrails }: Workspace): Pick<WorkspaceDocument, 'toolGuardrails'> {
  const ids = (list: Workspace['mcpInputGuardrails']) => (list ?? []).map(({ id }) => id);
  const [input, output] = [ids(mcpInputGuardrails), ids(mcpOutputGuardrails)];
  return input.length + output.length === 0 ? {} : { toolGuardrails: { input, output } };
}
