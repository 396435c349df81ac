import { createHash } from 'node:crypto';
import type { LRUCache } from 'lru-cache';
import { newEntryCache } from '../../contract/entry-cache.ts';
import {
  configLimits,
  type GatewayConfig,
  parseGatewayConfig,
  type TargetLimits,
  targetLimitsDefault,
} from '../../contract/plugin/config/gateway-config.ts';
import type { CoreServices } from '../../contract/plugin/core-plugin.ts';
import type { GuardrailReference, GuardrailRule, GuardrailSide } from '../../contract/plugin/guardrails/guardrail-config.ts';
import type { Plan } from '../../contract/plugin/plan.ts';
import type { ConfigChoice } from '../../contract/plugin/requests/config-choice.ts';
import type { ConfigDocument } from '../../contract/protocol/documents.ts';
import { headerParam } from '../../contract/protocol/header-names.ts';
import { GatewayError, reasonOf, toGatewayError } from '../../contract/values/errors/errors.ts';
import { failureOf } from '../../contract/values/errors/stack-of.ts';
import { headerText } from '../../contract/values/http/http.ts';
import { cachedDocument, cachedText } from './cached-config.ts';
import { type Chain, compilePlan, invalidConfig } from './compile-plan.ts';
import { type CompiledPlan, type PlanSource, sourceOfInline, sourceOfSaved } from './plan-source.ts';
import { type OpenGuardrail, rulesWith, type SavedGuardrails, sameDefaults, sameGuardrails } from './saved-guardrails.ts';

/**
 * Plans by config, compiled once. If a saved config does not compile, the failure is logged and its last good plan stays in use.
 * Its requests are rejected only if it never compiled.
 */
export class PlanStore {
  #base: PlanSource | null = null;
  #compiler: { readonly chain: Chain; readonly services: CoreServices; readonly openGuardrail: OpenGuardrail } | null = null;
  readonly #limits: TargetLimits;
  readonly #saved: LRUCache<string, { document: ConfigDocument; source: PlanSource }>;
  readonly #inline: LRUCache<string, PlanSource>;
  /** Plans of configs that many workspaces use, by config and workspace: inline ones and the empty one, with saved guardrails. */
  readonly #guarded: LRUCache<string, CompiledPlan>;
  readonly #running = new Map<Plan, { count: number; retired: boolean }>();

  constructor(entriesMax: number, limits: TargetLimits = targetLimitsDefault) {
    this.#limits = limits;
    // `disposeAfter`, because a plan may stay in use under a new entry, which exists when it is called.
    this.#saved = newEntryCache(entriesMax, { disposeAfter: ({ source }) => this.#retire(source.latest) });
    this.#inline = newEntryCache(entriesMax, { disposeAfter: ({ latest }) => this.#retire(latest) });
    this.#guarded = newEntryCache(entriesMax, { disposeAfter: (compiled) => this.#retire(compiled) });
  }

  /** Completes the store, once, before its first use. */
  start(chain: Chain, services: CoreServices, openGuardrail: OpenGuardrail): void {
    this.#compiler = { chain, services, openGuardrail };
    this.#base = sourceOfInline({}, '');
    this.plan(this.#base, null, '');
  }

  /** The plan of the empty config. */
  get base(): Plan {
    const plan = this.#base?.latest?.plan;
    if (!plan) throw new Error('the plan store was used before it was started');
    return plan;
  }

  /** Returns the parsed form of the config that a request selected. Throws as `savedSource` and `inlineSource` do. */
  sourceOf({ document, inline, cacheMode }: ConfigChoice): PlanSource {
    if (document) return this.savedSource(cacheMode === null ? document : cachedDocument(document, cacheMode));
    if (inline === null && cacheMode === null) return this.baseSource;
    return this.inlineSource(cacheMode === null ? (inline as string) : cachedText(inline, cacheMode));
  }

  /** The empty config. */
  get baseSource(): PlanSource {
    if (!this.#base) throw new Error('the plan store was used before it was started');
    return this.#base;
  }

  /** Returns the parsed form of a saved config. A version that cannot be parsed is reported, and the one before serves. */
  savedSource(document: ConfigDocument): PlanSource {
    const entry = this.#saved.get(document.id);
    if (entry?.document === document) return entry.source;
    let source = entry?.source;
    try {
      source = sourceOfSaved(document, this.#parse(document.config), source?.latest ?? null);
    } catch (thrown) {
      this.#reportInvalid(document, thrown);
      if (!source) throw thrown;
    }
    // Kept under the new document, so that the failure is reported once and not on every request.
    this.#saved.set(document.id, { document, source });
    return source;
  }

  /** Returns the parsed form of an inline config. Throws GatewayError `invalid_config`. */
  inlineSource(text: string): PlanSource {
    if (text.length > configLimits.inlineBytes) {
      throw invalidConfig([
        `config: inline configs can have at most ${configLimits.inlineBytes} bytes, received ${text.length}. Save the config instead`,
      ]);
    }
    // Inline configs may hold provider keys: the digest is kept as the key, not the text.
    const digest = createHash('sha256').update(text).digest('base64');
    const known = this.#inline.get(digest);
    if (known) return known;
    let parsed: unknown;
    try {
      parsed = JSON.parse(headerText(text));
    } catch {
      throw new GatewayError('invalid_config', {
        message: 'Invalid config passed. You need to pass a valid json or the slug of a saved config (pc-…)',
        param: headerParam('config'),
      });
    }
    const source = sourceOfInline(this.#parse(parsed), digest);
    if (targetCount(source.config) > configLimits.inlineTargets) {
      throw invalidConfig([
        `targets: inline configs can have at most ${configLimits.inlineTargets} targets. Save the config instead`,
      ]);
    }
    this.#inline.set(digest, source);
    return source;
  }

  /**
   * Returns the plan of a config with these saved guardrails; null: it names none and its workspace has no defaults. Throws GatewayError
   * `invalid_config`, unless an earlier plan of a saved config with the same defaults can serve.
   */
  plan(source: PlanSource, guardrails: SavedGuardrails | null, workspaceId: string): Plan {
    if (guardrails !== null && source.digest !== null)
      return this.#guardedPlan(source, guardrails, `${source.digest} ${workspaceId}`);
    const { latest } = source;
    if (latest && sameGuardrails(latest.guardrails, guardrails) && latest.source === source) return latest.plan;
    source.latest = this.#compileOrKeep(source, guardrails, latest);
    if (latest && latest.plan !== source.latest.plan) this.#retire(latest);
    return source.latest.plan;
  }

  #guardedPlan(source: PlanSource, guardrails: SavedGuardrails, key: string): Plan {
    const known = this.#guarded.get(key);
    if (known && sameGuardrails(known.guardrails, guardrails)) return known.plan;
    const compiled = { source, guardrails, plan: this.#compile(source, guardrails) };
    this.#guarded.set(key, compiled);
    return compiled.plan;
  }

  #compileOrKeep(source: PlanSource, guardrails: SavedGuardrails | null, latest: CompiledPlan | null): CompiledPlan {
    try {
      return { source, guardrails, plan: this.#compile(source, guardrails) };
    } catch (thrown) {
      this.#reportInvalid(source, thrown);
      // A plan without the current defaults would let requests through that they deny.
      if (!latest || !sameDefaults(latest.guardrails, guardrails)) throw thrown;
      return { source, guardrails, plan: latest.plan };
    }
  }

  #reportInvalid(
    { slug, versionId }: { readonly slug: string | null; readonly versionId: string | null },
    thrown: unknown,
  ): void {
    if (slug === null) return;
    const fields = { config: slug, version: versionId, reason: reasonOf(thrown) };
    this.#compiler?.services.log.error(fields, 'a saved config does not compile; serving its last valid version');
  }

  /** Returns the rules of saved guardrails, for a run without a config. */
  rulesOf(references: readonly GuardrailReference[], guardrails: SavedGuardrails, side: GuardrailSide): readonly GuardrailRule[] {
    return rulesWith(references, guardrails, this.#started().openGuardrail)(references, side);
  }

  /** Returns one line per issue of a config, with its path, as compiling it finds them; empty for none. Stores nothing. */
  check(input: unknown): string[] {
    try {
      const { chain, services } = this.#started();
      // Saved guardrails that it names were checked when they were saved.
      this.#close(compilePlan(chain, services, sourceOfInline(this.#parse(input), null)));
      return [];
    } catch (thrown) {
      const { errors, detail, message } = toGatewayError(thrown);
      return errors === null ? [detail ?? message] : [...errors];
    }
  }

  #compile(source: PlanSource, guardrails: SavedGuardrails | null): Plan {
    const { chain, services, openGuardrail } = this.#started();
    if (guardrails !== null) return compilePlan(chain, services, source, rulesWith(source.references, guardrails, openGuardrail));
    if (source.references.length > 0) throw new Error('a config was compiled before its saved guardrails were loaded');
    return compilePlan(chain, services, source);
  }

  #started() {
    if (!this.#compiler) throw new Error('the plan store was used before it was started');
    return this.#compiler;
  }

  /** Counts a request into its plan. Returns false for a plan without an `onClose` hook, which is not counted. */
  enter(plan: Plan): boolean {
    if (plan.onClose.length === 0) return false;
    const running = this.#running.get(plan);
    if (running) running.count++;
    else this.#running.set(plan, { count: 1, retired: false });
    return true;
  }

  /** Counts a request out that `enter` has counted. */
  leave(plan: Plan): void {
    const running = this.#running.get(plan);
    if (!running) return;
    running.count--;
    if (running.count === 0 && running.retired) this.#close(plan);
  }

  /** Closes every plan; called once, after the last request has ended. */
  close(): void {
    this.#saved.clear();
    this.#inline.clear();
    this.#guarded.clear();
    this.#retire(this.baseSource.latest);
  }

  #retire(compiled: CompiledPlan | null): void {
    if (compiled === null || compiled.plan.onClose.length === 0) return;
    const { plan } = compiled;
    // After a failed recompile the old plan has a new entry and is still in use.
    for (const { source } of this.#saved.values()) if (source.latest?.plan === plan) return;
    const running = this.#running.get(plan);
    if (running && running.count > 0) running.retired = true;
    else this.#close(plan);
  }

  #parse(input: unknown): GatewayConfig {
    const result = parseGatewayConfig(input, this.#started().services.settingNames, this.#limits);
    if ('errors' in result) throw invalidConfig(result.errors);
    return result.config;
  }

  #close(plan: Plan): void {
    this.#running.delete(plan);
    for (const hook of plan.onClose) {
      try {
        hook();
      } catch (thrown) {
        this.#compiler?.services.log.error(failureOf(thrown), 'onClose of a plugin failed');
      }
    }
  }
}

function targetCount({ targets }: GatewayConfig): number {
  return targets ? targets.reduce((sum, target) => sum + targetCount(target), 0) : 1;
}
