import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { GuardrailSide } from '../../../core/contract/plugin/guardrails/guardrail-config.ts';

/** A check as the API shows it: secret parameters are masks. */
export interface StoredCheck {
  id: string;
  name?: string;
  parameters: Record<string, unknown>;
  /** As sent; absent means true. */
  is_enabled?: boolean;
}

interface StoredFeedback {
  feedback: { value: number; weight: number; metadata: Record<string, unknown> | '' };
}

export interface StoredActions {
  deny: boolean;
  async: boolean;
  sequential: boolean;
  on_success: StoredFeedback | null;
  on_fail: StoredFeedback | null;
  /** The actions as sent, if the client sent `onFail`: such clients expect replies without further members. */
  sent?: Readonly<Record<string, unknown>>;
  [further: string]: unknown;
}

/** A saved guardrail: a name and slug that point to its newest version. Without a workspace it belongs to the organisation. */
export const guardrails = defineEntity({
  name: 'Guardrail',
  tableName: 'guardrails',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    workspaceId: p.uuid().nullable(),
    slug: p.text(),
    name: p.text(),
    target: p.text().$type<'llm' | 'mcp_tools'>(),
    status: p.text().$type<'active' | 'archived'>(),
    versionId: p.uuid(),
    ownerId: p.uuid(),
    updatedBy: p.uuid().nullable(),
    createdAt: p.datetime(),
    lastUpdatedAt: p.datetime(),
    /** Counts up with every change; the `etag`. */
    revision: p.integer().version(),
  },
});

/** One version of a guardrail. Versions never change once written. */
export const guardrailVersions = defineEntity({
  name: 'GuardrailVersion',
  tableName: 'guardrail_versions',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    workspaceId: p.uuid().nullable(),
    guardrailId: p.uuid(),
    number: p.integer(),
    checks: p.json().$type<StoredCheck[]>(),
    actions: p.json().$type<StoredActions>(),
    /** Sides that all checks can run on. */
    sides: p.json().$type<GuardrailSide[]>(),
    /** JSON of the secret parameters, see `secrets.ts`, sealed by the organisation's data key; null when there are none. */
    secrets: p.text().nullable(),
    ownerId: p.uuid(),
    createdAt: p.datetime(),
  },
});

export type Guardrail = InferEntity<typeof guardrails>;
export type GuardrailVersion = InferEntity<typeof guardrailVersions>;
