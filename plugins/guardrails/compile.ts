import * as v from 'valibot';
import { didYouMean } from '../../config/did-you-mean.ts';
import type { CheckRule, GuardrailRule, StreamMode } from '../../core/contract/plugin/guardrails/guardrail-config.ts';
import type { Secret } from '../../core/contract/values/credentials/secret.ts';
import { issueTexts } from '../../core/contract/values/errors/input-issues.ts';
import { messageOf } from '../../core/contract/values/errors/message-of.ts';
import { isObject, type JsonObject } from '../../core/contract/values/json/json.ts';
import { pointerKeys, valueAt } from '../../core/contract/values/json/json-pointer.ts';
import type { Maybe } from '../../core/contract/values/maybe.ts';
import { fromPlugin } from './checks/added.ts';
import type { Check, CheckServices, Outcome, Side, Subject } from './checks/check.ts';
import { checks, otherIds } from './checks/index.ts';
import { logFailures } from './log-failures.ts';
import { type Scope, scopes } from './texts.ts';
import type { WindowSearch } from './window/search.ts';

export interface Guardrail
  extends Pick<GuardrailRule, 'type' | 'deny' | 'softDeny' | 'async' | 'sequential' | 'message' | 'onSuccess' | 'onFail'> {
  readonly id: string;
  readonly side: Side;
  /** Mode in which streams are checked. */
  readonly stream: StreamMode;
  readonly checks: readonly PreparedCheck[];
}

export interface PreparedCheck {
  readonly id: string;
  readonly scope: Scope;
  readonly readsNoText: boolean;
  readonly readsModels: boolean;
  /** True: it can change the body. */
  readonly changes: boolean;
  /** True: it demands a form of the whole reply, so that it does not run on errors. */
  readonly demandsForm: boolean;
  /** True: it redacts, so that the guardrail denies if it has an error. */
  readonly redacts: boolean;
  /** True: it runs after the previous checks, on the body that they returned. */
  readonly isChained: boolean;
  /** The check for streams whose text is decided in a window; null: the guardrail has another mode. */
  readonly window: WindowSearch | null;
  /** The policy for errors; null: not set. */
  readonly failOnError: boolean | null;
  run(subject: Subject): Maybe<Outcome>;
}

/** Parameters of every check. */
export const sharedParameters = v.object({
  failOnError: v.optional(v.boolean()),
  scope: v.optional(v.picklist(scopes), 'last_message'),
});

/** Prepares the guardrails of one side. Adds one line per fault to `errors`, with its path in the config. */
export function compileGuardrails(
  rules: readonly GuardrailRule[],
  side: Side,
  services: CheckServices & { random(): number },
  errors: string[],
): readonly Guardrail[] {
  return rules.map((rule) => {
    if (rule.type === 'mutator' && rule.async) errors.push(`${rule.path}.async: a mutator cannot be asynchronous`);
    const id = rule.id ?? `${side}_guardrail_${randomLetters(services.random)}`;
    if (rule.stream !== null && side !== 'output') errors.push(`${rule.path}.stream: allowed on output guardrails only`);
    if (rule.stream !== null && rule.stream !== 'observe' && rule.async)
      errors.push(`${rule.path}.stream: ${rule.stream} contradicts async`);
    const { type, deny, softDeny, async, sequential, message, onSuccess, onFail } = rule;
    if (softDeny && !deny) errors.push(`${rule.path}.soft_deny_200: requires deny`);
    const prepared = rule.checks.map((check) => prepare(check, rule, side, services, errors)).filter((check) => check !== null);
    // A verdict that cannot stop a stream any more, and a change that comes too late, would be no protection.
    const isNeededFirst = deny || prepared.some(({ changes }) => changes);
    const stream = async ? 'observe' : (rule.stream ?? (isNeededFirst ? 'buffer' : 'observe'));
    return { id, side, type, deny, softDeny, async, sequential, stream, message, onSuccess, onFail, checks: prepared };
  });
}

function prepare(
  { id, path, parameters, secrets }: CheckRule,
  rule: GuardrailRule,
  side: Side,
  services: CheckServices,
  errors: string[],
): PreparedCheck | null {
  const at = `${rule.path}.${path}`;
  const check = checkOf(id, services);
  if (!check) {
    const known = [...checks.keys(), ...(services.addedChecks?.keys() ?? [])];
    errors.push(
      `${at.replace(/\.parameters$/, '.id')}: there is no check ${id}${didYouMean(id, known) || '.'} GET /v1/guardrails/checks lists them`,
    );
    return null;
  }
  if (!check.sides.includes(side)) {
    errors.push(`${at}: ${id} checks ${subjectsOf(check.sides)} only`);
    return null;
  }
  const { failOnError, scope, ...own } = withSecrets(parameters, secrets);
  const shared = v.safeParse(sharedParameters, { failOnError, scope });
  const read = v.safeParse(check.parameters, own);
  const issues = issueTexts([...(shared.issues ?? []), ...(read.issues ?? [])], '', check.parameters);
  if (!shared.success || !read.success) {
    errors.push(...issues.map((fault) => (fault.startsWith(':') ? `${at}${fault}` : `${at}.${fault}`)));
    return null;
  }
  const changes = typeof check.changes === 'function' ? check.changes(read.output) : check.changes === true;
  const { demandsForm } = check;
  try {
    const window = rule.stream === 'window' ? windowOf(check, read.output, shared.output.scope, services) : null;
    if (typeof window === 'string') {
      errors.push(`${rule.path}.stream: window is not possible with ${id}: ${window}. Use buffer`);
      return null;
    }
    return {
      id,
      window,
      scope: shared.output.scope,
      readsNoText: check.readsNoText === true,
      readsModels: check.readsModels === true,
      changes,
      demandsForm: typeof demandsForm === 'function' ? demandsForm(read.output) : demandsForm === true,
      redacts: check.redacts?.(read.output) ?? false,
      isChained: changes || rule.sequential || rule.type === 'mutator',
      failOnError: shared.output.failOnError ?? null,
      // Failures of plugins' checks are logged with the plugin.
      run: logFailures(check.prepare(read.output, services), id, builtIn(id) ? services.log : undefined),
    };
  } catch (thrown) {
    errors.push(`${at}.${messageOf(thrown)}`);
    return null;
  }
}

function subjectsOf(sides: readonly Side[]): string {
  const names = [sides.includes('input') ? 'requests' : null, sides.includes('output') ? 'responses' : null];
  return names.filter((name) => name !== null).join(' and ');
}

/** The built-in check of this id, or the one that a plugin adds. */
export function checkOf(id: string, { addedChecks }: CheckServices): Check | undefined {
  const added = addedChecks?.get(id);
  return builtIn(id) ?? (added && fromPlugin(added));
}

function builtIn(id: string): Check | undefined {
  return checks.get(otherIds[id] ?? id);
}

function windowOf(check: Check, parameters: unknown, scope: Scope, services: CheckServices): WindowSearch | string {
  if (scope === 'all_messages') return 'the scope all_messages needs the whole reply';
  return check.prepareWindow?.(parameters, services) ?? 'the check needs the whole text';
}

/** Returns the parameters with their secret values in place of the masks. */
function withSecrets(parameters: JsonObject, secrets: Secret | null): JsonObject {
  if (secrets === null) return parameters;
  const opened = structuredClone(parameters);
  for (const [pointer, value] of Object.entries(JSON.parse(secrets.reveal()) as Record<string, unknown>)) {
    const keys = pointerKeys(pointer);
    const last = keys.pop() as string;
    const holder = valueAt(opened, keys);
    // Credentials of the organisation have no mask.
    if (isObject(holder) && (Object.hasOwn(holder, last) || pointer === '/credentials')) holder[last] = value;
  }
  return opened;
}

function randomLetters(random: () => number): string {
  return Math.floor(random() * 36 ** 3)
    .toString(36)
    .padStart(3, '0');
}
