import { GatewayError } from '../contract/values/errors/errors.ts';
import { isObject, type JsonObject, listOf } from '../contract/values/json/json.ts';
import { callItem, outcomeOf } from './responses-items.ts';
import { createResponsesStream } from './responses-stream.ts';
import { sumUsage, tokensOf } from './sum-usage.ts';
import { type Conversation, type ModelTool, type NamedServer, serverPrefix, type ToolFormat } from './tool-format.ts';
import { amongNames, byName, isOurs, modelName, refuseAsUrl, slugOf } from './tool-names.ts';

/** Responses: `tools: [{type: "mcp", server_label: "@svc-mcp/<server>"}]`. */
export const responsesFormat: ToolFormat = {
  wire: 'responses',
  serversOf(body) {
    const found = listOf(body.tools).flatMap((tool, index): NamedServer[] => {
      const slug = isObject(tool) && tool.type === 'mcp' ? slugOf(tool.server_label, `tools[${index}].server_label`) : null;
      if (slug === null) {
        if (isObject(tool) && tool.type === 'mcp') refuseAsUrl(tool.server_url, `tools[${index}].server_url`, 'server_label');
        return [];
      }
      return [
        { slug, path: `tools[${index}]`, allows: allowedBy((tool as JsonObject).allowed_tools, `tools[${index}].allowed_tools`) },
      ];
    });
    if (found.length > 0 && body.background === true) {
      throw new GatewayError('bad_request', {
        message: `background: not available with tools of ${serverPrefix} servers`,
        param: 'background',
      });
    }
    return found;
  },
  begin: (body, tools) => beginResponses(body, tools),
};

function beginResponses(body: JsonObject, tools: readonly ModelTool[]): Conversation {
  const known = byName(tools);
  const own = listOf(body.tools).filter((tool) => !isServerTool(tool));
  const functions = tools.map(({ name, description, inputSchema }) => ({
    ...{ type: 'function', name, description, parameters: inputSchema, strict: false },
  }));
  const input: unknown[] =
    typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : listOf(body.input).flatMap(plainItems);
  const shown: unknown[] = [];
  let usage: JsonObject = {};
  let rounds = 0;

  const toolOf = (item: unknown): ModelTool | undefined =>
    isObject(item) && item.type === 'function_call' ? known.get(String(item.name)) : undefined;
  const conversation: Conversation = {
    next(isLast) {
      const choice = isLast ? 'none' : choiceOf(body.tool_choice, tools, rounds === 0);
      return {
        ...body,
        input,
        tools: [...own, ...functions],
        ...(choice === undefined ? {} : { tool_choice: choice }),
      };
    },
    callsOf(reply) {
      if (reply.status !== undefined && reply.status !== 'completed') return [];
      return listOf(reply.output).flatMap((item) => {
        const tool = toolOf(item);
        if (!tool) return [];
        const { call_id, arguments: sent } = item as JsonObject;
        return [{ id: String(call_id), tool, sent: typeof sent === 'string' ? sent : '' }];
      });
    },
    needsClient: (reply) =>
      listOf(reply.output).some((item) => isObject(item) && clientItems.has(String(item.type)) && toolOf(item) === undefined),
    add(reply, results) {
      rounds += 1;
      usage = sumUsage(usage, isObject(reply.usage) ? reply.usage : {});
      const outputs: unknown[] = [];
      for (const item of listOf(reply.output)) {
        const tool = toolOf(item);
        input.push(item);
        if (!tool) {
          shown.push(item);
          continue;
        }
        const result = results[outputs.length] ?? { text: 'The tool was not called', isError: true };
        outputs.push({ type: 'function_call_output', call_id: (item as JsonObject).call_id, output: result.text });
        shown.push(callItem(item as JsonObject, tool, outcomeOf(result)));
      }
      input.push(...outputs);
    },
    tokens: () => tokensOf(usage),
    finish: (last) => ({ ...asSent(last), output: shown, ...(Object.keys(usage).length === 0 ? {} : { usage }) }),
    stream: () => createResponsesStream(known, asSent),
  };
  return conversation;

  /** Replaces the tools and the choice that the model received by those of the request. */
  function asSent(reply: JsonObject): JsonObject {
    return {
      ...reply,
      ...(reply.tools === undefined ? {} : { tools: listOf(body.tools).map(withoutCredentials) }),
      ...(reply.tool_choice === undefined ? {} : { tool_choice: body.tool_choice ?? 'auto' }),
    };
  }
}

/** Returns a tool for a reply, which must not repeat the credentials of the request. */
function withoutCredentials(tool: unknown): unknown {
  if (!isObject(tool) || tool.type !== 'mcp') return tool;
  const { headers: _, authorization: __, ...shown } = tool;
  return shown;
}

/** Items that wait for an action of the client. */
const clientItems: ReadonlySet<string> = new Set([
  ...['function_call', 'custom_tool_call', 'computer_call', 'local_shell_call', 'shell_call', 'apply_patch_call'],
  'mcp_approval_request',
]);

/**
 * Returns the choice for the model, with functions in place of the tools of servers. A forced call would be repeated without end, so only the
 * first round forces one. A restriction to some tools applies to every round.
 */
function choiceOf(choice: unknown, tools: readonly ModelTool[], isFirst: boolean): unknown {
  if (isObject(choice) && choice.type === 'allowed_tools') {
    const allowed = listOf(choice.tools).flatMap((tool) => (isServerTool(tool) ? functionsOf(tool, tools) : [tool]));
    return { ...choice, ...(isFirst ? {} : { mode: 'auto' }), tools: allowed };
  }
  if (!isFirst) return choice === undefined || choice === 'none' ? choice : 'auto';
  if (!isServerTool(choice)) return choice;
  return typeof choice.name === 'string' ? { type: 'function', name: modelName(slugIn(choice), choice.name) } : 'required';
}

/** Returns the functions of a server, or the named one, as entries of a choice. */
function functionsOf(chosen: JsonObject, tools: readonly ModelTool[]): JsonObject[] {
  return tools
    .filter(({ server, tool }) => server === slugIn(chosen) && (typeof chosen.name !== 'string' || chosen.name === tool))
    .map(({ name }) => ({ type: 'function', name }));
}

/** True for a tool, or the choice of one, that names a server of the gateway. */
function isServerTool(value: unknown): value is JsonObject {
  return isObject(value) && value.type === 'mcp' && isOurs(value.server_label);
}

function slugIn({ server_label: label }: JsonObject): string {
  return String(label).slice(serverPrefix.length);
}

/** Returns the items that the model received, for an item of an earlier reply that the client sends back. */
function plainItems(item: unknown): unknown[] {
  if (!isObject(item) || !isOurs(item.server_label)) return [item];
  if (item.type === 'mcp_list_tools') return [];
  if (item.type !== 'mcp_call') return [item];
  const name = modelName(slugIn(item), String(item.name));
  const output = item.output ?? item.error ?? '';
  return [
    { type: 'function_call', call_id: item.id, name, arguments: item.arguments },
    { type: 'function_call_output', call_id: item.id, output: typeof output === 'string' ? output : JSON.stringify(output) },
  ];
}

function allowedBy(allowed: unknown, path: string): (tool: string) => boolean {
  return amongNames(isObject(allowed) ? allowed.tool_names : allowed, path);
}
