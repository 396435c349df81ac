import type { CoreServices } from '../contract/plugin/core-plugin.ts';
import type { AddedCheck, AddedDecision, CheckContext, PluginCheck } from '../contract/plugin/guardrails/plugin-check.ts';
import type { Extension, Services } from '../contract/plugin/plugin.ts';
import { failureOf } from '../contract/values/errors/stack-of.ts';
import { isObject } from '../contract/values/json/json.ts';
import { isPromise, type Maybe } from '../contract/values/maybe.ts';
import { isJsonSchema, schemaOf } from './json-schema.ts';
import { publicServices } from './public-services.ts';
import { withinTime } from './within-time.ts';

/** Returns the checks of plugins, which were checked before, by their full id and behind guards. */
export function guardChecks(
  plugins: readonly Extension[],
  { hookTimeoutMs }: { readonly hookTimeoutMs: number },
  given: CoreServices,
): ReadonlyMap<string, AddedCheck> {
  const services = publicServices(given);
  const all = plugins.flatMap(({ name, checks = [] }) =>
    checks.map((check) => guardCheck(`${name}.${check.id}`, check, check.timeoutMs ?? hookTimeoutMs, services)),
  );
  return new Map(all.map((check) => [check.id, check]));
}

function guardCheck(id: string, check: PluginCheck, timeoutMs: number, services: Services): AddedCheck {
  const { about, sides, changes, readsNoText, parameters } = check;
  return {
    id,
    about,
    sides: [...new Set(sides)],
    ...(changes ? { changes } : {}),
    ...(readsNoText ? { readsNoText } : {}),
    parameters: schemaOf(parameters),
    jsonSchema: isJsonSchema(parameters) ? parameters : null,
    run: (text, context) => run(check, id, timeoutMs, text, { ...context, metadata: Object.freeze(context.metadata), services }),
  };
}

function run(check: PluginCheck, id: string, timeoutMs: number, text: string, context: CheckContext): Maybe<AddedDecision> {
  const failed = (thrown: unknown): Error => {
    const failure = failureOf(thrown);
    context.services.log.error({ check: id, ...failure }, 'a check of a plugin failed');
    return new Error(`check ${id}: ${failure.reason}`, { cause: thrown });
  };
  try {
    const decision = check.check(text, context);
    if (!isPromise(decision)) return readDecision(decision, check);
    return withinTime(decision, timeoutMs, () => new Error(`no result within ${timeoutMs} ms`))
      .then((settled) => readDecision(settled, check))
      .catch((thrown: unknown) => {
        throw failed(thrown);
      });
  } catch (thrown) {
    throw failed(thrown);
  }
}

/** Maximum bytes of a decision's `data`: it is added to the body of the reply. */
const dataBytesMax = 16_384;

/** The decision as a copy of its own. Throws an Error that names the field and never holds text of the request. */
function readDecision(decision: unknown, { changes }: PluginCheck): AddedDecision {
  if (typeof decision === 'boolean') return { verdict: decision, data: null, text: null };
  if (!isObject(decision) || typeof decision.verdict !== 'boolean')
    throw new Error('expected true, false or { verdict: boolean, data?, text? }');
  const { verdict, data, text } = decision;
  if (text !== undefined && typeof text !== 'string') throw new Error('text: expected a string');
  if (text !== undefined && !changes) throw new Error('text: only checks with `changes: true` may replace text');
  if (data !== undefined && !isObject(data)) throw new Error('data: expected an object');
  const json = data === undefined ? null : JSON.stringify(data);
  if (json !== null && Buffer.byteLength(json) > dataBytesMax)
    throw new Error(`data: expected at most ${dataBytesMax} bytes of JSON`);
  return { verdict, data: json === null ? null : JSON.parse(json), text: text ?? null };
}
