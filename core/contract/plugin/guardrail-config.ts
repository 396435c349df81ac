import * as v from 'valibot';
import type { JsonObject } from '../values/json.ts';

/** A guardrail of a config or target, as its list names it. The checks themselves are read by the plugin `guardrails`. */
export interface GuardrailRule {
  /** Path of the entry below its config or target: `input_guardrails[0]`. */
  readonly path: string;
  /** Null: the entry has no id. */
  readonly id: string | null;
  readonly type: 'guardrail' | 'mutator';
  readonly checks: readonly CheckRule[];
  /** True: a failed verdict ends the attempt with 446. */
  readonly deny: boolean;
  /** True: the client receives a denial as a message of the assistant with status 200, on routes that have such messages. */
  readonly softDeny: boolean;
  /** True: the reply does not wait for the verdict and does not depend on it. */
  readonly async: boolean;
  /** True: checks run one after the other, each on the text that the one before has left. */
  readonly sequential: boolean;
  /** How streams are checked; null: not set. See `streamModes`. */
  readonly stream: StreamMode | null;
  readonly onSuccess: Feedback | null;
  readonly onFail: Feedback | null;
}

export interface CheckRule {
  /** Path of its parameters below the entry: `checks[0].parameters`, `default.contains`. */
  readonly path: string;
  /** With its prefix: `default.contains`. */
  readonly id: string;
  readonly parameters: JsonObject;
}

/**
 * `buffer`: a stream is held until it is complete and its verdict is known. `window`: only the text that a check may still deny or replace is
 * held. `observe`: the stream is sent as it arrives, and the verdict is recorded only.
 */
const streamModes = ['observe', 'window', 'buffer'] as const;
export type StreamMode = (typeof streamModes)[number];

/** Feedback on the trace of a request. */
interface Feedback {
  /** −10 to 10. */
  readonly value: number;
  /** 0 to 1. */
  readonly weight: number;
  readonly metadata: JsonObject;
}

/** The guardrails of one target, inheritance applied. */
export interface TargetGuardrails {
  readonly input: readonly GuardrailRule[];
  readonly output: readonly GuardrailRule[];
}

const feedback = v.strictObject({
  value: v.optional(v.pipe(v.number(), v.minValue(-10), v.maxValue(10)), 0),
  weight: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(1)), 1),
  metadata: v.optional(v.union([v.record(v.string(), v.unknown()), v.literal('')])),
});
const action = v.nullish(v.strictObject({ feedback: v.nullish(feedback) }));
const flag = v.optional(v.boolean());

const actions = {
  deny: flag,
  soft_deny_200: flag,
  async: flag,
  sequential: flag,
  /** Allowed on output guardrails only. */
  stream: v.optional(v.picklist(streamModes)),
  on_success: action,
  on_fail: action,
  /** Other name of `on_fail`. */
  on_failure: action,
};

const name = v.pipe(v.string(), v.minLength(1), v.maxLength(255));
const type = v.optional(v.picklist(['guardrail', 'mutator']));

const hook = v.strictObject({
  type,
  id: v.optional(name),
  name: v.optional(v.string()),
  checks: v.array(
    v.strictObject({
      id: name,
      name: v.optional(v.string()),
      parameters: v.optional(v.record(v.string(), v.unknown())),
      is_enabled: flag,
    }),
  ),
  ...actions,
});

/** Every key except the reserved ones is the id of a check with its parameters. */
const shorthand = v.objectWithRest(
  { type, id: v.optional(name), ...actions },
  v.looseObject({ id: v.optional(name), is_enabled: flag }),
);

const listMax = 20;
const saved = 'saved guardrails are not part of this version. Write the checks into the config';

function listOf<Output>(entry: v.GenericSchema<unknown, Output>) {
  const object = v.custom<unknown>(
    (item) => typeof item === 'object' && item !== null && (!('id' in item) || Object.keys(item).length > 1),
    saved,
  );
  return v.optional(v.pipe(v.array(v.pipe(object, entry)), v.maxLength(listMax, `expected at most ${listMax} entries`)));
}

/** Keys of a config or target that list guardrails. */
export const guardrailEntries = {
  before_request_hooks: listOf(hook),
  after_request_hooks: listOf(hook),
  input_guardrails: listOf(shorthand),
  output_guardrails: listOf(shorthand),
  input_mutators: listOf(shorthand),
  output_mutators: listOf(shorthand),
};

type GuardrailLists = { readonly [Key in keyof typeof guardrailEntries]?: v.InferOutput<(typeof guardrailEntries)[Key]> };

const keys = {
  input: { hooks: 'before_request_hooks', guardrails: 'input_guardrails', mutators: 'input_mutators' },
  output: { hooks: 'after_request_hooks', guardrails: 'output_guardrails', mutators: 'output_mutators' },
} as const;

/** Returns the guardrails of one side that a config or target lists itself, in the order of results; null if it lists none. */
export function guardrailsOf(node: GuardrailLists, side: 'input' | 'output'): readonly GuardrailRule[] | null {
  const { hooks, guardrails, mutators } = keys[side];
  const rules = [
    ...(node[hooks] ?? []).map((entry, index) => ofHook(entry, `${hooks}[${index}]`)),
    ...(node[guardrails] ?? []).map((entry, index) => ofShorthand(entry, `${guardrails}[${index}]`, 'guardrail')),
    ...(node[mutators] ?? []).map((entry, index) => ofShorthand(entry, `${mutators}[${index}]`, 'mutator')),
  ];
  return rules.length === 0 ? null : rules;
}

function ofHook(entry: v.InferOutput<typeof hook>, path: string): GuardrailRule {
  const checks = entry.checks.flatMap(({ id, parameters, is_enabled }, index) =>
    is_enabled === false ? [] : [{ path: `checks[${index}].parameters`, id: fullId(id), parameters: parameters ?? {} }],
  );
  return { path, id: entry.id ?? null, type: entry.type ?? 'guardrail', checks, ...actionsOf(entry) };
}

const reserved: ReadonlySet<string> = new Set(['type', 'id', ...Object.keys(actions)]);

function ofShorthand(entry: v.InferOutput<typeof shorthand>, path: string, kind: GuardrailRule['type']): GuardrailRule {
  const checks: CheckRule[] = [];
  for (const [key, given] of Object.entries(entry)) {
    if (reserved.has(key)) continue;
    const { id = key, is_enabled, ...parameters } = given as { id?: string; is_enabled?: boolean };
    if (is_enabled !== false) checks.push({ path: key, id: fullId(id), parameters });
  }
  return { path, id: entry.id ?? null, type: kind, checks, ...actionsOf(entry as Actions) };
}

type Actions = Pick<v.InferOutput<typeof hook>, keyof typeof actions>;

function actionsOf(
  entry: Actions,
): Pick<GuardrailRule, 'deny' | 'softDeny' | 'async' | 'sequential' | 'stream' | 'onSuccess' | 'onFail'> {
  return {
    deny: entry.deny ?? false,
    softDeny: entry.soft_deny_200 ?? false,
    async: entry.async ?? false,
    sequential: entry.sequential ?? false,
    stream: entry.stream ?? null,
    onSuccess: feedbackOf(entry.on_success),
    onFail: feedbackOf(entry.on_fail ?? entry.on_failure),
  };
}

function feedbackOf(given: v.InferOutput<typeof action>): Feedback | null {
  if (!given?.feedback) return null;
  const { value, weight, metadata } = given.feedback;
  return { value, weight, metadata: metadata === undefined || metadata === '' ? {} : metadata };
}

function fullId(id: string): string {
  return id.includes('.') ? id : `default.${id}`;
}
