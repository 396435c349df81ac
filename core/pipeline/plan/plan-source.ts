import type { GatewayConfig } from '../../contract/plugin/config/gateway-config.ts';
import { type GuardrailReference, guardrailReferencesOf } from '../../contract/plugin/guardrails/guardrail-config.ts';
import type { Plan } from '../../contract/plugin/plan.ts';
import type { ConfigDocument } from '../../contract/protocol/documents.ts';
import type { SavedGuardrails } from './saved-guardrails.ts';

/** A parsed config, and the plan that was compiled from it last. */
export interface PlanSource {
  readonly config: GatewayConfig;
  /** Saved guardrails that the config names. They are loaded before a plan can be compiled. */
  readonly references: readonly GuardrailReference[];
  /** Digest of the text of an inline config, empty for the empty config; null: a saved one. */
  readonly digest: string | null;
  readonly slug: string | null;
  readonly versionId: string | null;
  readonly stateKey?: string;
  latest: CompiledPlan | null;
}

export interface CompiledPlan {
  readonly source: PlanSource;
  /** Null: compiled without any. */
  readonly guardrails: SavedGuardrails | null;
  readonly plan: Plan;
}

/** Returns the source of a saved config. `latest`: the plan of its previous version, which serves if this one does not compile. */
export function sourceOfSaved(
  { slug, versionId, organisationId, workspaceId }: ConfigDocument,
  config: GatewayConfig,
  latest: CompiledPlan | null,
): PlanSource {
  const stateKey = `${organisationId}:${workspaceId}:${slug}:${versionId}`;
  return { config, references: guardrailReferencesOf(config), digest: null, slug, versionId, stateKey, latest };
}

/** Returns the source of an inline config. */
export function sourceOfInline(config: GatewayConfig, digest: string | null): PlanSource {
  return { config, references: guardrailReferencesOf(config), digest, slug: null, versionId: null, latest: null };
}
