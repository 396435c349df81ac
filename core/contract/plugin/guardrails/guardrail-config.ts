import * as v from 'valibot';
import type { Secret } from '../../values/credentials/secret.ts';
import { isEmptyObject, type JsonObject } from '../../values/json/json.ts';

/** `start`: before a request is limited or routed, `input`: requests, `output`: responses. */
export const guardrailSides = ['start', 'input', 'output'] as const;
export type GuardrailSide = (typeof guardrailSides)[number];

/** Returns the reason why a guardrail cannot be listed on a side. */
export function cannotRunOn(slug: string, side: GuardrailSide): string {
  if (side === 'start') return `the checks of ${slug} need the body, which start hooks do not see`;
  return `the checks of ${slug} run on ${side === 'input' ? 'responses' : 'requests'} only`;
}

/** A guardrail of a config or target, as its list names it. The checks themselves are read by the plugin `guardrails`. */
export interface GuardrailRule extends GuardrailActions {
  /** Path of the entry below its config or target: `input_guardrails[0]`. */
  readonly path: string;
  /** Null: the entry has no id. */
  readonly id: string | null;
  readonly type: 'guardrail' | 'mutator';
  readonly checks: readonly CheckRule[];
  /** The saved guardrail that the rule was made from; null: the config holds the checks itself. */
  readonly saved: { readonly id: string; readonly versionId: string } | null;
}

/** The effects of a guardrail. */
interface GuardrailActions {
  /** True: a failed verdict ends the attempt with 446. */
  readonly deny: boolean;
  /** True: the client receives a denial as a message of the assistant with status 200, on routes that have such messages. */
  readonly softDeny: boolean;
  /** True: the reply does not wait for the verdict and does not depend on it. */
  readonly async: boolean;
  /** True: checks run one after the other, each on the text that the one before has left. */
  readonly sequential: boolean;
  /** Mode in which streams are checked; null: not set. See `streamModes`. */
  readonly stream: StreamMode | null;
  /** The text that clients receive with a denial; null: the common text. */
  readonly message: string | null;
  readonly onSuccess: Feedback | null;
  readonly onFail: Feedback | null;
}

export interface CheckRule {
  /** Path of its parameters below the entry: `checks[0].parameters`, `default.contains`. */
  readonly path: string;
  /** With its prefix: `default.contains`. */
  readonly id: string;
  readonly parameters: JsonObject;
  /** JSON of the secret parameters by their JSON pointer, whose places in `parameters` hold masks; null: there are none. */
  readonly secrets: Secret | null;
}

/** A saved guardrail as a list names it. */
export interface GuardrailReference {
  /** Path of the entry, as in `GuardrailRule`. */
  readonly path: string;
  /** Slug or id. */
  readonly name: string;
  /** Null: the current version. */
  readonly versionId: string | null;
  readonly type: GuardrailRule['type'];
  /** Actions that replace the saved ones. */
  readonly actions: Partial<GuardrailActions>;
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
  /** Absent if there is none. */
  readonly metadata?: JsonObject;
}

/** The guardrails of one target, inheritance applied. */
export interface TargetGuardrails {
  readonly input: readonly GuardrailRule[];
  readonly output: readonly GuardrailRule[];
  /** Start hooks. All targets of a config have the same, because no target is chosen yet. */
  readonly start: readonly GuardrailRule[];
}

const label = v.pipe(v.string(), v.maxLength(255, 'at most 255 characters'));
/** The bound of feedback of clients. */
const feedbackCharsMax = 4_096;
const feedbackMetadata = v.pipe(
  v.record(v.string(), v.unknown()),
  v.check((sent) => JSON.stringify(sent).length <= feedbackCharsMax, `at most ${feedbackCharsMax} characters of JSON`),
);
const wholeNumber = 'a whole number from -10 to 10 is expected';
const feedback = v.strictObject({
  value: v.optional(v.pipe(v.number(), v.integer(wholeNumber), v.minValue(-10, wholeNumber), v.maxValue(10, wholeNumber)), 0),
  weight: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(1)), 1),
  metadata: v.optional(v.union([feedbackMetadata, v.literal('')])),
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
  /** Empty: not set. */
  message: v.optional(v.pipe(v.string(), v.maxLength(1000))),
  on_success: action,
  on_fail: action,
  /** Other name of `on_fail`. */
  on_failure: action,
};

const name = v.pipe(v.string(), v.minLength(1), v.maxLength(255));
const type = v.optional(v.picklist(['guardrail', 'mutator']));

/** The checks of a hook or of a saved guardrail. */
export const guardrailChecks = v.array(
  v.strictObject({
    id: name,
    name: v.optional(label),
    parameters: v.optional(v.record(v.string(), v.unknown())),
    is_enabled: flag,
  }),
);

/** The actions of a saved guardrail. */
export const guardrailActions = v.strictObject(actions);

const sentAction = v.nullish(v.object({ feedback: v.nullish(v.object(feedback.entries)) }));

/** A version of a saved guardrail between control planes and gateways: members of newer versions are ignored. */
export const savedContent = {
  checks: v.array(v.object(guardrailChecks.item.entries)),
  actions: v.object({ ...actions, on_success: sentAction, on_fail: sentAction, on_failure: sentAction }),
};

/** A saved guardrail, or the version of it that is to be used. */
const reference = { type, id: name, guardrail_version_id: v.optional(v.pipe(v.string(), v.uuid())), ...actions };

/** A string, or an object that may replace actions. */
export const guardrailReference = v.union([name, v.strictObject(reference)]);

const hook = v.strictObject({
  type,
  id: v.optional(name),
  name: v.optional(label),
  checks: guardrailChecks,
  ...actions,
});

/** Every key except the reserved ones is the id of a check with its parameters. */
const shorthand = v.objectWithRest(
  { type, id: v.optional(name), ...actions },
  v.looseObject({ id: v.optional(name), is_enabled: flag }),
);

const listMax = 20;
const referenceKeys: ReadonlySet<string> = new Set(Object.keys(reference));

/** Returns true if an entry of a list holds no checks of its own and so names a saved guardrail. */
export function isGuardrailReference(item: unknown): boolean {
  if (typeof item === 'string') return true;
  return typeof item === 'object' && item !== null && 'id' in item && Object.keys(item).every((key) => referenceKeys.has(key));
}

/** Entries with checks of their own have the form `entry`, all others name a saved guardrail. */
function listOf<Output>(entry: v.GenericSchema<unknown, Output>) {
  const item = v.lazy((input): v.GenericSchema<unknown, Output | Reference> => {
    if (typeof input === 'string') return name;
    return isGuardrailReference(input) ? v.strictObject(reference) : entry;
  });
  return v.optional(v.pipe(v.array(item), v.maxLength(listMax, `expected at most ${listMax} entries`)));
}

type Reference = string | v.InferOutput<v.StrictObjectSchema<typeof reference, undefined>>;

/** Keys of a config or target that list guardrails. */
export const guardrailEntries = {
  before_request_hooks: listOf(hook),
  after_request_hooks: listOf(hook),
  input_guardrails: listOf(shorthand),
  output_guardrails: listOf(shorthand),
  input_mutators: listOf(shorthand),
  output_mutators: listOf(shorthand),
  start_hooks: listOf(hook),
};

type GuardrailLists = { readonly [Key in keyof typeof guardrailEntries]?: v.InferOutput<(typeof guardrailEntries)[Key]> };

const keys: Readonly<Record<GuardrailSide, { hooks: HookKey; guardrails?: ShorthandKey; mutators?: ShorthandKey }>> = {
  start: { hooks: 'start_hooks' },
  input: { hooks: 'before_request_hooks', guardrails: 'input_guardrails', mutators: 'input_mutators' },
  output: { hooks: 'after_request_hooks', guardrails: 'output_guardrails', mutators: 'output_mutators' },
};
type HookKey = 'start_hooks' | 'before_request_hooks' | 'after_request_hooks';
type ShorthandKey = Exclude<keyof typeof guardrailEntries, HookKey>;

/** Returns the guardrails of one side that a config or target lists itself, in the order of results; null if it lists none. */
export function guardrailsOf(node: GuardrailLists, side: GuardrailSide): readonly (GuardrailRule | GuardrailReference)[] | null {
  const { hooks, guardrails, mutators } = keys[side];
  const listed = (key: ShorthandKey | undefined) => (key === undefined ? [] : (node[key] ?? []));
  const rules = [
    ...(node[hooks] ?? []).map((entry, index) => {
      const path = `${hooks}[${index}]`;
      return isGuardrailReference(entry) ? ofReference(entry as Reference, path, 'guardrail') : ofHook(entry as Hook, path);
    }),
    ...listed(guardrails).map((entry, index) => ofListed(entry, `${guardrails}[${index}]`, 'guardrail')),
    ...listed(mutators).map((entry, index) => ofListed(entry, `${mutators}[${index}]`, 'mutator')),
  ];
  return rules.length === 0 ? null : rules;
}

/** Returns the saved guardrails that a config names, in document order, with their paths in the config and their sides. */
export function guardrailReferencesOf(
  config: GuardrailLists & { readonly targets?: readonly GuardrailLists[] },
  path = '',
): readonly (GuardrailReference & { readonly side: GuardrailSide })[] {
  const at = path === '' ? '' : `${path}.`;
  const own = guardrailSides.flatMap((side) =>
    (guardrailsOf(config, side) ?? []).flatMap((rule) => (isRule(rule) ? [] : [{ ...rule, path: `${at}${rule.path}`, side }])),
  );
  const below = (config.targets ?? []).flatMap((target, index) => guardrailReferencesOf(target, `${at}targets[${index}]`));
  return [...own, ...below];
}

/** Returns false for a saved guardrail that is only named. */
export function isRule(entry: GuardrailRule | GuardrailReference): entry is GuardrailRule {
  return 'checks' in entry;
}

/** One version of a saved guardrail. */
export interface SavedGuardrail {
  readonly id: string;
  readonly slug: string;
  readonly versionId: string;
  readonly checks: v.InferOutput<typeof guardrailChecks>;
  readonly actions: v.InferOutput<typeof guardrailActions>;
}

/**
 * Returns the rule of a saved guardrail. Its own actions apply unless the reference replaces them. `secrets`: `CheckRule.secrets` by index of
 * the check.
 */
export function ruleOfSaved(
  { path, type, actions: replaced }: Pick<GuardrailReference, 'path' | 'type' | 'actions'>,
  { id, slug, versionId, checks, actions: own }: SavedGuardrail,
  secrets: ReadonlyMap<number, Secret>,
): GuardrailRule {
  const rules = checks.flatMap((check, index) => ofCheck(check, index, secrets.get(index) ?? null));
  return { path, id: slug, type, checks: rules, saved: { id, versionId }, ...actionsOf(own), ...replaced };
}

type Hook = v.InferOutput<typeof hook>;

function ofHook(entry: Hook, path: string): GuardrailRule {
  const checks = entry.checks.flatMap((check, index) => ofCheck(check, index, null));
  return { path, id: entry.id ?? null, type: entry.type ?? 'guardrail', checks, saved: null, ...actionsOf(entry) };
}

function ofCheck(check: Hook['checks'][number], index: number, secrets: Secret | null): CheckRule[] {
  if (check.is_enabled === false) return [];
  return [{ path: `checks[${index}].parameters`, id: fullId(check.id), parameters: check.parameters ?? {}, secrets }];
}

function ofReference(entry: Reference, path: string, kind: GuardrailRule['type']): GuardrailReference {
  if (typeof entry === 'string') return { path, name: entry, versionId: null, type: kind, actions: {} };
  const { id, type: own, guardrail_version_id: versionId = null, ...sent } = entry;
  const all = actionsOf(sent);
  const actions = Object.fromEntries(
    Object.entries(all).filter(([key]) => wireNames[key as keyof GuardrailActions].some((name) => sent[name] !== undefined)),
  );
  return { path, name: id, versionId, type: own ?? kind, actions };
}

/** Keys of the config language for each action. */
const wireNames: { readonly [Key in keyof GuardrailActions]: readonly (keyof typeof actions)[] } = {
  deny: ['deny'],
  softDeny: ['soft_deny_200'],
  async: ['async'],
  sequential: ['sequential'],
  stream: ['stream'],
  message: ['message'],
  onSuccess: ['on_success'],
  onFail: ['on_fail', 'on_failure'],
};

function ofListed(
  entry: Reference | v.InferOutput<typeof shorthand>,
  path: string,
  kind: GuardrailRule['type'],
): GuardrailRule | GuardrailReference {
  return isGuardrailReference(entry)
    ? ofReference(entry as Reference, path, kind)
    : ofShorthand(entry as v.InferOutput<typeof shorthand>, path, kind);
}

const reserved: ReadonlySet<string> = new Set(['type', 'id', ...Object.keys(actions)]);

function ofShorthand(entry: v.InferOutput<typeof shorthand>, path: string, kind: GuardrailRule['type']): GuardrailRule {
  const checks: CheckRule[] = [];
  for (const [key, given] of Object.entries(entry)) {
    if (reserved.has(key)) continue;
    const { id = key, is_enabled, ...parameters } = given as { id?: string; is_enabled?: boolean };
    if (is_enabled !== false) checks.push({ path: key, id: fullId(id), parameters, secrets: null });
  }
  return { path, id: entry.id ?? null, type: kind, checks, saved: null, ...actionsOf(entry as Actions) };
}

type Actions = Pick<v.InferOutput<typeof hook>, keyof typeof actions>;

function actionsOf(entry: Actions): GuardrailActions {
  return {
    deny: entry.deny ?? false,
    softDeny: entry.soft_deny_200 ?? false,
    async: entry.async ?? false,
    sequential: entry.sequential ?? false,
    stream: entry.stream ?? null,
    message: entry.message || null,
    onSuccess: feedbackOf(entry.on_success),
    onFail: feedbackOf(entry.on_fail ?? entry.on_failure),
  };
}

function feedbackOf(given: v.InferOutput<typeof action>): Feedback | null {
  if (!given?.feedback) return null;
  const { value, weight, metadata } = given.feedback;
  return { value, weight, ...(metadata && !isEmptyObject(metadata) && { metadata }) };
}

/** Adds the prefix that may be left out. The reference lists one check with another spelling than its gateway runs. */
function fullId(id: string): string {
  const full = id.includes('.') ? id : `default.${id}`;
  return full === 'default.modelwhitelist' ? 'default.modelWhitelist' : full;
}
