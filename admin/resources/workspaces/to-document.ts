import type { WorkspaceDocument } from '../../../core/contract/protocol/documents.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { readRow, readRows } from '../../db/plain-rows.ts';
import { configs } from '../configs/entity.ts';
import { effectiveSetting } from '../organisations/effective-setting.ts';
import { organisations } from '../organisations/entity.ts';
import { blocksInlineConfig } from '../organisations/to-setting-reply.ts';
import { workspaceExclusions } from '../workspace-exclusions/entity.ts';
import { type Workspace, workspaces } from './entity.ts';

/** Returns the document of a workspace, with the organisation's settings. Null if it does not exist or is archived. */
export async function toWorkspaceDocument(em: EntityManager, id: string): Promise<WorkspaceDocument | null> {
  const row = await readRow(em, workspaces, { id, status: 'active' });
  const organisation = row && (await readRow(em, organisations, { id: row.organisationId }));
  if (!organisation) return null;
  const tenancy = { organisation, workspace: row };
  const config = await readRow(em, configs, { workspaceId: id, isDefault: true, status: 'active' });
  const excluded = new Set((await readRows(em, workspaceExclusions, { workspaceId: id })).map(({ kind }) => kind));
  const { defaults, settings } = organisation;
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
      ignoreDebugHeader: settings?.enforce_debug_log_setting === 1,
      userKeyMetadata: row.settings?.user_key_metadata === 1,
      userKeyMetadataOverride: row.settings?.user_key_metadata_override === 1,
      cacheTtlSeconds: settings?.cache_ttl ?? null,
      cacheSimilarityThreshold: settings?.cache_similarity_threshold ?? null,
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
    hasPolicies: await hasPolicies(em, row.organisationId, id),
    cachePurges: row.cachePurges,
    cacheGeneration: row.cacheGeneration,
  };
}

/** Archived ones count too: the value never returns to false, so only the first policy changes this document. */
async function hasPolicies(em: EntityManager, organisationId: string, id: string): Promise<boolean> {
  const [found] = await em.execute<{ any: boolean }[]>(
    `select exists (select 1 from usage_policies where organisation_id = ? and workspace_id = ?)
       or exists (select 1 from rate_policies where organisation_id = ? and workspace_id = ?) as "any"`,
    [organisationId, id, organisationId, id],
  );
  return found?.any === true;
}

function toolGuardrailsOf({ mcpInputGuardrails, mcpOutputGuardrails }: Workspace): Pick<WorkspaceDocument, 'toolGuardrails'> {
  const ids = (list: Workspace['mcpInputGuardrails']) => (list ?? []).map(({ id }) => id);
  const [input, output] = [ids(mcpInputGuardrails), ids(mcpOutputGuardrails)];
  return input.length + output.length === 0 ? {} : { toolGuardrails: { input, output } };
}
