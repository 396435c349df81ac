import { createHash } from 'node:crypto';
import type { LRUCache } from 'lru-cache';
import { newEntryCache } from '../../contract/entry-cache.ts';
import type { CoreServices } from '../../contract/plugin/core-plugin.ts';
import {
  configLimits,
  type GatewayConfig,
  parseGatewayConfig,
  type TargetLimits,
  targetLimitsDefault,
} from '../../contract/plugin/gateway-config.ts';
import type { Plan } from '../../contract/plugin/plan.ts';
import type { ConfigDocument } from '../../contract/protocol/documents.ts';
import { GatewayError, reasonOf, toGatewayError } from '../../contract/values/errors.ts';
import { headerText } from '../../contract/values/http.ts';
import { type Chain, compilePlan, invalidConfig } from './compile-plan.ts';

/**
 * Plans by config, compiled once. If a saved config does not compile, the failure is logged and its last good plan stays in use.
 * Its requests are rejected only if it never compiled.
 */
export class PlanStore {
  #base: Plan | null = null;
  #compiler: { readonly chain: Chain; readonly services: CoreServices } | null = null;
  readonly #limits: TargetLimits;
  readonly #saved: LRUCache<string, { document: ConfigDocument; plan: Plan }>;
  readonly #inline: LRUCache<string, Plan>;
  readonly #running = new Map<Plan, { count: number; retired: boolean }>();

  constructor(entriesMax: number, limits: TargetLimits = targetLimitsDefault) {
    this.#limits = limits;
    // `disposeAfter`, because a plan may stay in use under a new entry, which exists when it is called.
    this.#saved = newEntryCache(entriesMax, { disposeAfter: ({ plan }) => this.#retire(plan) });
    this.#inline = newEntryCache(entriesMax, { disposeAfter: (plan) => this.#retire(plan) });
  }

  /** Completes the store, once, before its first use. */
  start(chain: Chain, services: CoreServices): void {
    this.#compiler = { chain, services };
    this.#base = this.#compile({ config: {}, slug: null, versionId: null });
  }

  get base(): Plan {
    if (!this.#base) throw new Error('the plan store was used before it was started');
    return this.#base;
  }

  saved(document: ConfigDocument): Plan {
    const entry = this.#saved.get(document.id);
    if (entry?.document === document) return entry.plan;
    try {
      const plan = this.#compile({
        config: this.#parse(document.config),
        slug: document.slug,
        versionId: document.versionId,
        stateKey: `${document.organisationId}:${document.workspaceId}:${document.slug}:${document.versionId}`,
      });
      this.#saved.set(document.id, { document, plan });
      return plan;
    } catch (thrown) {
      const fields = {
        config: document.slug,
        version: document.versionId,
        reason: reasonOf(thrown),
      };
      this.#compiler?.services.log.error(fields, 'a saved config does not compile; serving its last valid version');
      if (!entry) throw thrown;
      // Stored under the new document, so that the failure is logged once and not for every request.
      this.#saved.set(document.id, { document, plan: entry.plan });
      return entry.plan;
    }
  }

  inline(text: string): Plan {
    if (text.length > configLimits.inlineBytes) {
      throw invalidConfig([
        `config: inline configs can have at most ${configLimits.inlineBytes} bytes, received ${text.length}. Save the config instead`,
      ]);
    }
    // Inline configs may hold provider keys: the digest is kept as the key, not the text.
    const key = createHash('sha256').update(text).digest('base64');
    const known = this.#inline.get(key);
    if (known) return known;
    let parsed: unknown;
    try {
      parsed = JSON.parse(headerText(text));
    } catch {
      throw new GatewayError('invalid_config', {
        message: 'Invalid config passed. You need to pass a valid json or the slug of a saved config (pc-…)',
        param: 'x-svc-config',
      });
    }
    const plan = this.#compile({ config: this.#parse(parsed), slug: null, versionId: null });
    if (plan.targets.length > configLimits.inlineTargets) {
      throw invalidConfig([
        `targets: inline configs can have at most ${configLimits.inlineTargets} targets. Save the config instead`,
      ]);
    }
    this.#inline.set(key, plan);
    return plan;
  }

  /** Returns one line per issue of a config, with its path, as compiling it finds them; empty for none. Stores nothing. */
  check(input: unknown): string[] {
    try {
      const config = this.#parse(input);
      const plan = this.#compile({ config, slug: null, versionId: null });
      this.#close(plan);
      return [];
    } catch (thrown) {
      const { errors, detail, message } = toGatewayError(thrown);
      return errors === null ? [detail ?? message] : [...errors];
    }
  }

  #compile(source: Parameters<typeof compilePlan>[2]): Plan {
    const { chain, services } = this.#started();
    return compilePlan(chain, services, source);
  }

  #started(): { readonly chain: Chain; readonly services: CoreServices } {
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
    this.#retire(this.base);
  }

  #retire(plan: Plan): void {
    if (plan.onClose.length === 0) return;
    // After a failed recompile the old plan has a new entry and is still in use.
    for (const entry of this.#saved.values()) if (entry.plan === plan) return;
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
        this.#compiler?.services.log.error({ reason: reasonOf(thrown) }, 'onClose of a plugin failed');
      }
    }
  }
}
