import type { OperationCall } from '../../../contract/provider/provider.ts';
import { isObject, type JsonObject, objectsIn } from '../../../contract/values/json/json.ts';
import { badParam } from '../../bad-param.ts';
import { noteOnce } from '../../note-once.ts';
import { toolNameOf } from '../../tool-name.ts';
import { traitsOf } from '../models.ts';
import { newWork, type SchemaWork, toGeminiSchema } from '../schema/json-schema.ts';
import type { GeminiRequestOptions } from './chat-request.ts';

/** Google's own tools by their names without underscores, in lower case. */
const ownTools = new Map(
  ['googleSearch', 'googleSearchRetrieval', 'googleMaps', 'enterpriseWebSearch', 'urlContext', 'codeExecution'].map((name) => [
    name.toLowerCase(),
    name,
  ]),
);

/**
 * Returns `tools` and `toolConfig` of a chat call. Empty if it has no tools. Functions are declared together. Google's own tools
 * (`{"googleSearch": {}}`, `{"codeExecution": {}}`, …) are passed unchanged. Clients that can only send functions name them in a function
 * without other members. Throws `bad_request` for tools of other kinds.
 */
export function toolParams(params: JsonObject, call: OperationCall, options: GeminiRequestOptions): JsonObject {
  const { mode, only, filter } = withoutOwnTools(toolChoice(params), params.tools, call);
  let functions = functionList(params, call);
  if (filter) {
    noteOnce(call.adapted, 'tool_choice');
    const allowed = new Set(only);
    functions = functions.filter((declaration) => allowed.has(String(declaration.name)));
  }
  const native = nativeTools(params.tools);
  const tools = [...(functions.length > 0 ? [{ functionDeclarations: functions }] : []), ...native];
  if (tools.length === 0) return {};
  if (params.parallel_tool_calls === false) noteOnce(call.dropped, 'parallel_tool_calls');
  // If there are functions, the Gemini API returns the parts of its own tools only on request. The next turn needs these parts.
  const mixed = options.isGeminiApi && functions.length > 0 && native.length > 0 && traitsOf(call.model).signedCalls;
  const shown = mixed ? { includeServerSideToolInvocations: true } : {};
  const names = mode === 'ANY' && only.length > 0 && !filter ? { allowedFunctionNames: only } : {};
  const choice = mode === null || functions.length === 0 ? {} : { functionCallingConfig: { mode, ...names } };
  const toolConfig = { ...choice, ...shown };
  return Object.keys(toolConfig).length > 0 ? { tools, toolConfig } : { tools };
}

function functionList(params: JsonObject, call: OperationCall): JsonObject[] {
  const work = newWork();
  if (!Array.isArray(params.tools)) {
    if (!Array.isArray(params.functions)) return [];
    // The retired form of tools. Replies use `tool_calls`, its replacement.
    noteOnce(call.adapted, 'functions');
    return params.functions.map((fn, index) => declaration(fn, `functions[${index}]`, call, work));
  }
  return params.tools.flatMap((tool, index) => {
    const path = `tools[${index}]`;
    if (!isObject(tool)) throw badParam(path, 'a tool must be an object');
    if (isObject(tool.custom)) throw badParam(path, 'custom tools with free text input are not supported by Gemini');
    if (tool.cache_control) noteOnce(call.dropped, 'cache_control');
    return isObject(tool.function) && ownToolOf(tool.function) === null
      ? [declaration(tool.function, `${path}.function`, call, work)]
      : [];
  });
}

function nativeTools(tools: unknown): JsonObject[] {
  if (!Array.isArray(tools)) return [];
  return tools.flatMap((tool) => {
    if (!isObject(tool)) return [];
    if (!isObject(tool.function)) return [tool];
    const name = ownToolOf(tool.function);
    return name === null ? [] : [{ [name]: {} }];
  });
}

/** Returns Google's own tool that a function stands for. Null for functions of the client, which have a description or parameters. */
function ownToolOf({ name, ...others }: JsonObject): string | null {
  if (typeof name !== 'string' || Object.keys(others).length > 0) return null;
  return ownTools.get(name.replaceAll('_', '').toLowerCase()) ?? null;
}

/** A function without parameters declares no parameters, because older models reject an object without properties. */
function declaration(fn: unknown, path: string, call: OperationCall, work: SchemaWork): JsonObject {
  if (!isObject(fn)) throw badParam(path, 'an object is expected');
  const { name, description, parameters, strict, cache_control: hint, ...others } = fn;
  // Gemini has no strict mode and follows the schema as well as it can.
  if (strict === true) noteOnce(call.dropped, 'tools.strict');
  if (hint) noteOnce(call.dropped, 'cache_control');
  const note = (keyword: string): void => noteOnce(call.adapted, `tools.${keyword}`);
  const schema = isObject(parameters) ? toGeminiSchema({ type: 'object', ...parameters }, `${path}.parameters`, note, work) : {};
  const some = isObject(schema.properties) ? Object.keys(schema.properties).length > 0 : schema.anyOf !== undefined;
  return {
    name,
    ...(description === undefined ? {} : { description }),
    ...(some ? { parameters: schema } : {}),
    ...others,
  };
}

interface Choice {
  readonly mode: string | null;
  readonly only: readonly string[];
  /** True: only the allowed functions are declared, because Gemini can limit a choice only if it is forced. */
  readonly filter: boolean;
}

function toolChoice(params: JsonObject): Choice {
  const asked = params.tool_choice ?? params.function_call;
  const all = { only: [], filter: false };
  if (asked === 'auto') return { mode: 'AUTO', ...all };
  if (asked === 'none') return { mode: 'NONE', ...all };
  if (asked === 'required') return { mode: 'ANY', ...all };
  if (!isObject(asked)) return { mode: null, ...all };
  if (asked.type === 'allowed_tools' && isObject(asked.allowed_tools)) {
    const only = Array.isArray(asked.allowed_tools.tools) ? asked.allowed_tools.tools.map(toolNameOf) : [];
    const forced = asked.allowed_tools.mode === 'required';
    return { mode: forced ? 'ANY' : 'AUTO', only, filter: !forced };
  }
  return { mode: 'ANY', only: [toolNameOf(asked)], filter: false };
}

/** Gemini cannot be forced to use its own tools, and rejects their names among those of functions. */
function withoutOwnTools(choice: Choice, tools: unknown, call: OperationCall): Choice {
  const functions = objectsIn(tools).flatMap(({ function: fn }) => (isObject(fn) ? [fn] : []));
  const own = new Set(functions.filter((fn) => ownToolOf(fn) !== null).map(({ name }) => name));
  const only = choice.only.filter((name) => !own.has(name));
  if (only.length === choice.only.length) return choice;
  noteOnce(call.adapted, 'tool_choice');
  return only.length > 0 || choice.filter ? { ...choice, only } : { mode: 'AUTO', only, filter: false };
}
