import * as v from 'valibot';
import { guardrailSides } from '../contract/plugin/guardrails/guardrail-config.ts';
import type { PluginCheck } from '../contract/plugin/guardrails/plugin-check.ts';
import type { Extension } from '../contract/plugin/plugin.ts';
import { issueText } from '../contract/values/errors/input-issues.ts';
import { messageOf } from '../contract/values/errors/message-of.ts';
import { isObject } from '../contract/values/json/json.ts';
import { isAsynchronous, isJsonSchema, isValibot, schemaOf } from './json-schema.ts';
import { misspeltField } from './misspelt-field.ts';

/** Returns the first error in the checks of a plugin, to be read behind its name; null if there is none. */
export function checksIssueOf({ name, checks }: Extension): string | null {
  if (checks === undefined) return null;
  if (!Array.isArray(checks)) return 'checks: expected a list';
  if (reservedPrefixes.has(name)) return `checks: the prefix ${name} belongs to the gateway; rename the plugin`;
  const seen = new Set<string>();
  for (const [index, check] of (checks as unknown[]).entries()) {
    const issue = isObject(check) ? checkIssue(check as unknown as PluginCheck, seen) : 'expected an object';
    if (issue !== null) return `checks[${index}]${issue.startsWith(':') ? issue : `: ${issue}`}`;
  }
  return null;
}

/** Prefixes of built-in checks. */
const reservedPrefixes: ReadonlySet<string> = new Set(['default', 'svc']);

const checkFields = [...['id', 'about', 'sides', 'parameters', 'example'], ...['changes', 'readsNoText', 'timeoutMs', 'check']];

function checkIssue(check: PluginCheck, seen: Set<string>): string | null {
  const { id, about, sides, parameters, example, timeoutMs } = check;
  if (typeof id !== 'string' || !/^[a-z][a-zA-Z0-9-]{0,63}$/.test(id))
    return 'id: expected letters, digits and hyphens, such as topics';
  if (seen.has(id)) return `id: there are two checks ${id}`;
  seen.add(id);
  const of = (text: string): string => `(${id}) ${text}`;
  const misspelt = misspeltField(check, checkFields);
  if (misspelt !== null) return of(misspelt);
  if (typeof about !== 'string' || about === '') return of('has no about: one sentence for the list of checks');
  if (!Array.isArray(sides) || sides.length === 0 || !sides.every((side) => guardrailSides.includes(side)))
    return of(`sides: expected a list of ${guardrailSides.join(', ')}`);
  if (sides.includes('start') && check.readsNoText !== true) return of('sides: start requires readsNoText');
  if (typeof check.check !== 'function') return of('has no check function');
  if (parameters !== undefined && !isJsonSchema(parameters) && !isValibot(parameters))
    return of('parameters: expected a valibot schema or a JSON Schema of type object');
  if (isAsynchronous(parameters)) return of('parameters: expected a synchronous schema; move asynchronous tests into check');
  if (timeoutMs !== undefined && !(Number.isInteger(timeoutMs) && timeoutMs >= 1 && timeoutMs <= 600_000))
    return of('timeoutMs: expected a whole number of milliseconds from 1 to 600000');
  for (const flag of ['changes', 'readsNoText'] as const)
    if (check[flag] !== undefined && check[flag] !== true) return of(`${flag}: expected true, or no such field`);
  try {
    const schema = schemaOf(parameters);
    const result = example === undefined ? null : v.safeParse(schema, example);
    return result?.issues ? of(`its schema rejects its example: ${issueText(result.issues[0], 'example')}`) : null;
  } catch (thrown) {
    return of(`parameters: ${messageOf(thrown)}`);
  }
}
