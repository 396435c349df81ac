import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { RateLimit, UsageLimits } from '../../limits/schema.ts';
import type { DataPlaneSecuritySettings, ExportSettings, GuardrailReference, SharedSettings } from '../organisations/entity.ts';
import type { SecuritySettings } from '../organisations/setting-sections.ts';

export interface WorkspaceSettings extends SharedSettings {
  /** 1: requests of users' keys carry their owner's name as `_user`, replacing a sent value. */
  user_key_metadata?: 0 | 1;
  /** 1: an `_user` in the request takes precedence, and the owner's name is used only without one. */
  user_key_metadata_override?: 0 | 1;
}

/** A part of an organisation with its own providers, configs and keys. Exactly one per organisation is the default. */
export const workspaces = defineEntity({
  name: 'Workspace',
  tableName: 'workspaces',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    slug: p.text(),
    name: p.text(),
    description: p.text().nullable(),
    icon: p.text().nullable(),
    isDefault: p.boolean(),
    metadata: p.json().$type<Record<string, string>>(),
    settings: p.json().$type<WorkspaceSettings>().nullable(),
    securitySettings: p.json().$type<Partial<SecuritySettings>>().nullable(),
    dataPlaneSecuritySettings: p.json().$type<DataPlaneSecuritySettings>().nullable(),
    exportSettings: p.json().$type<ExportSettings>().nullable(),
    /** At most one element. */
    usageLimits: p.json().$type<UsageLimits[]>().nullable(),
    rateLimits: p.json().$type<RateLimit[]>().nullable(),
    /** True: rejects requests of its keys whose usage cannot be measured. */
    rejectUnmetered: p.boolean().onCreate(() => false),
    /** Guardrails of this workspace that every request in it runs. */
    startHooks: p.json().$type<GuardrailReference[]>().nullable(),
    inputGuardrails: p.json().$type<GuardrailReference[]>().nullable(),
    outputGuardrails: p.json().$type<GuardrailReference[]>().nullable(),
    /** Guardrails that every call of an MCP tool in this workspace runs. */
    mcpInputGuardrails: p.json().$type<GuardrailReference[]>().nullable(),
    mcpOutputGuardrails: p.json().$type<GuardrailReference[]>().nullable(),
    userApiKeyConfigId: p.uuid().nullable(),
    /** Counts the purges of its cache. */
    cachePurges: p.integer().onCreate(() => 0),
    /** Counts the purges of single entries and namespaces. */
    cacheGeneration: p.integer().onCreate(() => 0),
    status: p.text().$type<'active' | 'archived'>(),
    archivedAt: p.datetime().nullable(),
    createdAt: p.datetime(),
    lastUpdatedAt: p.datetime(),
    /** Counts up with every change; the `etag`. */
    revision: p.integer().version(),
  },
});

export type Workspace = InferEntity<typeof workspaces>;
