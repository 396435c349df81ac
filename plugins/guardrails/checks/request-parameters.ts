import * as v from 'valibot';
import { isObject, type JsonObject } from '../../../core/contract/values/json/json.ts';
import { type Check, defineCheck } from './check.ts';

const names = v.optional(v.pipe(v.array(v.string()), v.maxLength(1000)));
const values = v.optional(v.pipe(v.array(v.unknown()), v.maxLength(1000)));

/** Returns false if a name is in both lists. */
function noOverlap(blocked: readonly string[] | undefined, allowed: readonly string[] | undefined): boolean {
  const known = new Set(allowed);
  return !blocked?.some((name) => known.has(name));
}

const parameters = v.strictObject({
  tools: v.optional(
    v.pipe(
      v.strictObject({ blockedTypes: names, allowedTypes: names, blockedFunctionNames: names, allowedFunctionNames: names }),
      v.check(
        (tools) =>
          noOverlap(tools.blockedTypes, tools.allowedTypes) && noOverlap(tools.blockedFunctionNames, tools.allowedFunctionNames),
        'a name is both blocked and allowed',
      ),
    ),
  ),
  params: v.optional(
    v.pipe(
      v.strictObject({
        blockedKeys: names,
        allowedKeys: names,
        values: v.optional(v.record(v.string(), v.strictObject({ blockedValues: values, allowedValues: values }))),
      }),
      v.check((params) => noOverlap(params.blockedKeys, params.allowedKeys), 'a key is both blocked and allowed'),
    ),
  ),
});
type Parameters = v.InferOutput<typeof parameters>;

const words: Readonly<Record<string, string>> = {
  type_blocked: 'type is blocked',
  type_not_allowed: 'type is not in allowed list',
  name_blocked: 'function name is blocked',
  name_not_allowed: 'function name is not in allowed list',
  key_blocked: 'key is blocked',
  key_not_allowed: 'key is not in allowed list',
  value_blocked: 'value is blocked',
  value_not_allowed: 'value is not in allowed list',
};

/** `default.requestParametersCheck`: types and names of tools, and the other members of the request. */
export const requestParametersCheck: Check = defineCheck({
  id: 'default.requestParametersCheck',
  sides: ['input'],
  readsNoText: true,
  parameters,
  prepare: (config) => {
    const ofTools = config.tools && compileTools(config.tools);
    const ofParams = config.params && compileParams(config.params);
    return ({ body }) => {
      const tools = toolsOf(body);
      const blockedTools = ofTools ? tools.flatMap((tool) => blockedTool(tool, ofTools)) : [];
      const blockedParams = ofParams ? blockedParameters(body, ofParams) : [];
      const reasonsOf = (reasons: readonly string[]) => reasons.map((reason) => words[reason]).join(', ');
      const lines = [
        ...(blockedTools.length === 0
          ? []
          : [
              `Blocked tools: ${blockedTools.map((tool) => `"${tool.name ?? tool.type}" (${reasonsOf(tool.reasons)})`).join('; ')}`,
            ]),
        ...(blockedParams.length === 0
          ? []
          : [
              `Blocked params: ${blockedParams.map((each) => `"${each.param}"=${JSON.stringify(each.value)} (${reasonsOf(each.reasons)})`).join('; ')}`,
            ]),
      ];
      return {
        verdict: lines.length === 0,
        data: {
          ...(tools.length > 0 ? { toolsInRequest: tools } : {}),
          ...(blockedTools.length > 0 ? { blockedToolsFound: blockedTools } : {}),
          ...(blockedParams.length > 0 ? { blockedParamsFound: blockedParams } : {}),
          explanation: lines.length === 0 ? 'All checks passed.' : lines.join('. '),
          config,
        },
      };
    };
  },
});

/** Lists as sets: a request may have tens of thousands of tools. */
function compileTools({
  blockedTypes,
  allowedTypes,
  blockedFunctionNames,
  allowedFunctionNames,
}: NonNullable<Parameters['tools']>) {
  return {
    types: listsOf(blockedTypes, allowedTypes),
    names: listsOf(blockedFunctionNames, allowedFunctionNames),
  };
}

/** Values as their JSON, so that the JSON of a value of a request, which may be long, is written once and not for each of them. */
function compileParams({ blockedKeys, allowedKeys, values: rules = {} }: NonNullable<Parameters['params']>) {
  const json = (all: readonly unknown[] | undefined) => all?.map((value) => JSON.stringify(value));
  const byName = Object.entries(rules).map(
    ([name, { blockedValues, allowedValues }]) => [name, listsOf(json(blockedValues), json(allowedValues))] as const,
  );
  return { keys: listsOf(blockedKeys, allowedKeys), values: new Map(byName) };
}

interface Lists {
  readonly blocked: ReadonlySet<string>;
  /** Null: there is no such list. */
  readonly allowed: ReadonlySet<string> | null;
}

function listsOf(blocked: readonly string[] = [], allowed?: readonly string[]): Lists {
  return { blocked: new Set(blocked), allowed: allowed ? new Set(allowed) : null };
}

function reasonsIn({ blocked, allowed }: Lists, item: string, of: 'type' | 'name' | 'key' | 'value'): string[] {
  return [...(blocked.has(item) ? [`${of}_blocked`] : []), ...(allowed?.has(item) === false ? [`${of}_not_allowed`] : [])];
}

interface Tool {
  readonly type: string;
  readonly name?: string;
}

/** Tools of a chat completion or response, and of a message, whose own tools have no type. */
function toolsOf({ tools }: JsonObject): Tool[] {
  if (!Array.isArray(tools)) return [];
  return tools.filter(isObject).map((tool) => {
    const type = typeof tool.type === 'string' ? tool.type : 'function';
    const name = isObject(tool.function) ? tool.function.name : tool.name;
    return typeof name === 'string' ? { type, name } : { type };
  });
}

function blockedTool(tool: Tool, { types, names }: ReturnType<typeof compileTools>): (Tool & { reasons: string[] })[] {
  const reasons = reasonsIn(types, tool.type, 'type');
  if (tool.name !== undefined) reasons.push(...reasonsIn(names, tool.name, 'name'));
  return reasons.length === 0 ? [] : [{ ...tool, reasons }];
}

function blockedParameters(body: JsonObject, { keys, values }: ReturnType<typeof compileParams>) {
  return Object.entries(body).flatMap(([param, value]) => {
    const reasons = reasonsIn(keys, param, 'key');
    const rule = values.get(param);
    if (rule) reasons.push(...reasonsIn(rule, JSON.stringify(value), 'value'));
    return reasons.length === 0 ? [] : [{ param, value, reasons }];
  });
}
