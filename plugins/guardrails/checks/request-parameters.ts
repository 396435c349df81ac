import * as v from 'valibot';
import { isObject, type JsonObject } from '../../../core/contract/values/json/json.ts';
import { type Check, defineCheck } from './check.ts';

const names = v.optional(v.pipe(v.array(v.string()), v.maxLength(1000)));
const values = v.optional(v.pipe(v.array(v.unknown()), v.maxLength(1000)));

/** Returns an error text if a name is in both lists. */
const noOverlap = (blocked: readonly unknown[] | undefined, allowed: readonly unknown[] | undefined) =>
  !blocked?.some((name) => allowed?.some((other) => isSame(name, other)));

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
  prepare:
    (config) =>
    ({ body }) => {
      const tools = toolsOf(body);
      const blockedTools = config.tools
        ? tools.flatMap((tool) => blockedTool(tool, config.tools as NonNullable<Parameters['tools']>))
        : [];
      const blockedParams = config.params ? blockedParameters(body, config.params) : [];
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
    },
});

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

function blockedTool(tool: Tool, lists: NonNullable<Parameters['tools']>): (Tool & { reasons: string[] })[] {
  const reasons: string[] = [];
  if (lists.blockedTypes?.includes(tool.type)) reasons.push('type_blocked');
  if (lists.allowedTypes && !lists.allowedTypes.includes(tool.type)) reasons.push('type_not_allowed');
  if (tool.name !== undefined && lists.blockedFunctionNames?.includes(tool.name)) reasons.push('name_blocked');
  if (tool.name !== undefined && lists.allowedFunctionNames && !lists.allowedFunctionNames.includes(tool.name))
    reasons.push('name_not_allowed');
  return reasons.length === 0 ? [] : [{ ...tool, reasons }];
}

function blockedParameters(body: JsonObject, lists: NonNullable<Parameters['params']>) {
  return Object.entries(body).flatMap(([param, value]) => {
    const reasons: string[] = [];
    if (lists.blockedKeys?.includes(param)) reasons.push('key_blocked');
    if (lists.allowedKeys && !lists.allowedKeys.includes(param)) reasons.push('key_not_allowed');
    const rule = lists.values && Object.hasOwn(lists.values, param) ? lists.values[param] : undefined;
    if (rule?.blockedValues?.some((other) => isSame(value, other))) reasons.push('value_blocked');
    if (rule?.allowedValues && !rule.allowedValues.some((other) => isSame(value, other))) reasons.push('value_not_allowed');
    return reasons.length === 0 ? [] : [{ param, value, reasons }];
  });
}

function isSame(left: unknown, right: unknown): boolean {
  return left === right || JSON.stringify(left) === JSON.stringify(right);
}
