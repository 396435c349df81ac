import type { GenericSchema } from 'valibot';
import type { JsonObject } from '../../values/json/json.ts';
import type { Maybe } from '../../values/maybe.ts';
import type { Services } from '../plugin.ts';
import type { GuardrailSide } from './guardrail-config.ts';

/**
 * A guardrail check that a plugin adds. Configs name it `<plugin>.<id>`, with its parameters. A check that throws, rejects, takes too long or
 * returns something else cannot decide. It then counts as failed in a guardrail that denies, unless its parameters in the config have
 * `failOnError: false`.
 */
export interface PluginCheck<Parameters = unknown> {
  /** Letters, digits and hyphens, beginning with a lower-case letter. */
  readonly id: string;
  /** One sentence for the list of checks. */
  readonly about: string;
  /** `start`: requests before they are routed, only with `readsNoText`; `input`: requests; `output`: responses. */
  readonly sides: readonly GuardrailSide[];
  /** Schema of the parameters: of valibot, or JSON Schema draft 2020-12 of type `object`. Absent: the check has none. */
  readonly parameters?: GenericSchema<unknown, Parameters> | JsonSchema;
  /** Parameters that the schema accepts; checked at start. Absent: `{}` if the check has no parameters, otherwise nothing is checked. */
  readonly example?: JsonObject;
  /** True: it may replace text. It is then called once for each text; other checks are called once with all texts, joined by line breaks. */
  readonly changes?: true;
  /** True: it reads no text, so that it also runs on routes without text. `text` is then empty. */
  readonly readsNoText?: true;
  /** Milliseconds that one call may take; absent: PLUGIN_HOOK_TIMEOUT. */
  readonly timeoutMs?: number;
  /** Decides about a text. Parameters were validated; everything about the request is in `context`. */
  check(text: string, context: CheckContext<Parameters>): Maybe<CheckDecision>;
}

/** A JSON Schema as an object. */
export type JsonSchema = { readonly type: 'object' } & JsonObject;

/** The request that a check decides about. */
export interface CheckContext<Parameters = unknown> {
  /** Parameters of the config or saved guardrail, with the defaults of the schema. */
  readonly parameters: Parameters;
  /** The side that the text comes from. */
  readonly side: GuardrailSide;
  /** The texts that the scope of the guardrail selects, in their order. */
  readonly texts: readonly string[];
  /** The model that the request names; null if it names none. */
  readonly model: string | null;
  /** Function of the route: `chatComplete`, `messages`, `createModelResponse`, `proxy`, … */
  readonly requestType: string;
  /** Metadata of the request, for reading. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Services of the gateway, as plugins with hooks get them. */
  readonly services: Services;
}

/**
 * True or `verdict: true` passes. `data` is shown to the caller in `hook_results` and may hold at most 16,384 bytes of JSON. `text` replaces
 * the given text; only checks with `changes` may return it.
 */
export type CheckDecision = boolean | { readonly verdict: boolean; readonly data?: JsonObject; readonly text?: string };

/** A check of a plugin behind its guards, for the built-in plugin `guardrails`. */
export interface AddedCheck extends Pick<PluginCheck, 'about' | 'sides' | 'changes' | 'readsNoText'> {
  /** With the name of the plugin: `acme.topics`. */
  readonly id: string;
  /** Schema of valibot, also for a JSON Schema. */
  readonly parameters: GenericSchema;
  /** Null: valibot describes the parameters. */
  readonly jsonSchema: JsonSchema | null;
  /** Throws or rejects if the check cannot decide. */
  run(text: string, context: Omit<CheckContext, 'services'>): Maybe<AddedDecision>;
}

/** A decision whose form was checked. */
export interface AddedDecision {
  /** True passes. */
  readonly verdict: boolean;
  /** Null: none. */
  readonly data: JsonObject | null;
  /** Null: the text stays. */
  readonly text: string | null;
}
