import { GatewayError } from '../contract/values/errors/errors.ts';
import { isObject, type JsonObject, listOf } from '../contract/values/json/json.ts';
import { resultBlock, shownBlock } from './messages-blocks.ts';
import { createMessagesStream } from './messages-stream.ts';
import { sumUsage, tokensOf } from './sum-usage.ts';
import { type Conversation, type ModelTool, type NamedServer, serverPrefix, type ToolFormat } from './tool-format.ts';
import { amongNames, byName, isOurs, modelName, refuseAsUrl, slugOf } from './tool-names.ts';

/** Messages: `mcp_servers: [{type: "url", name: "@svc-mcp/<server>"}]`, each with a tool `{type: "mcp_toolset", mcp_server_name}`. */
export const messagesFormat: ToolFormat = {
  wire: 'messages',
  serversOf(body) {
    const named = listOf(body.mcp_servers).flatMap((server, index): NamedServer[] => {
      const slug = isObject(server) ? slugOf(server.name, `mcp_servers[${index}].name`) : null;
      if (slug === null) {
        if (isObject(server)) refuseAsUrl(server.url, `mcp_servers[${index}].url`, 'name');
        return [];
      }
      const path = `mcp_servers[${index}]`;
      return [{ slug, path, allows: allowedBy((server as JsonObject).tool_configuration, `${path}.tool_configuration`) }];
    });
    const toolsets = listOf(body.tools).flatMap((tool, index): NamedServer[] => {
      const path = `tools[${index}]`;
      const slug = isToolset(tool) ? slugOf(tool.mcp_server_name, `${path}.mcp_server_name`) : null;
      if (slug === null) return [];
      const { allows = () => true } = named.find((one) => one.slug === slug) ?? {};
      const isEnabled = enabledBy(tool as JsonObject, path);
      return [{ slug, path, allows: (name) => allows(name) && isEnabled(name) }];
    });
    return [...toolsets, ...named.filter(({ slug }) => !toolsets.some((one) => one.slug === slug))];
  },
  begin: (body, tools) => beginMessages(body, tools),
};

function beginMessages(body: JsonObject, tools: readonly ModelTool[]): Conversation {
  const known = byName(tools);
  const { mcp_servers: servers, ...rest } = body;
  const otherServers = listOf(servers).filter((server) => !(isObject(server) && isOurs(server.name)));
  const own = listOf(body.tools).filter((tool) => !(isToolset(tool) && isOurs(tool.mcp_server_name)));
  const added = tools.map(({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema }));
  const messages: unknown[] = listOf(body.messages).flatMap(plainMessages);
  const shown: unknown[] = [];
  let usage: JsonObject = {};
  let rounds = 0;

  const toolOf = (block: unknown): ModelTool | undefined =>
    isObject(block) && block.type === 'tool_use' ? known.get(String(block.name)) : undefined;
  return {
    next(isLast) {
      const choice = isLast ? { type: 'none' } : choiceOf(body.tool_choice, rounds === 0);
      return {
        ...rest,
        ...(otherServers.length === 0 ? {} : { mcp_servers: otherServers }),
        messages,
        tools: [...own, ...added],
        ...(choice === undefined ? {} : { tool_choice: choice }),
      };
    },
    callsOf(reply) {
      if (reply.stop_reason !== 'tool_use') return [];
      return listOf(reply.content).flatMap((block) => {
        const tool = toolOf(block);
        if (!tool) return [];
        const { id, input } = block as JsonObject;
        return [{ id: String(id), tool, sent: JSON.stringify(input ?? {}) }];
      });
    },
    needsClient: (reply) =>
      listOf(reply.content).some((block) => isObject(block) && block.type === 'tool_use' && toolOf(block) === undefined),
    add(reply, results) {
      rounds += 1;
      usage = sumUsage(usage, isObject(reply.usage) ? reply.usage : {});
      const content = listOf(reply.content);
      const calls = content.filter((block) => toolOf(block) !== undefined);
      shown.push(...content.map((block) => shownBlock(block, known)));
      if (results.length === 0) return;
      messages.push({ role: 'assistant', content });
      const blocks = calls.map((block, index) => {
        const { id } = block as JsonObject;
        const { text, isError } = results[index] ?? { text: 'The tool was not called', isError: true };
        shown.push(resultBlock(String(id), { text, isError }));
        return { type: 'tool_result', tool_use_id: id, content: text, ...(isError ? { is_error: true } : {}) };
      });
      messages.push({ role: 'user', content: blocks });
    },
    tokens: () => tokensOf(usage),
    finish: (last) => ({ ...last, content: shown, usage }),
    stream: () => createMessagesStream(known),
  };
}

/** The choice of the request. A forced call would be repeated without end, so it holds for the first round only. */
function choiceOf(choice: unknown, isFirst: boolean): unknown {
  if (!isObject(choice) || isFirst || (choice.type !== 'any' && choice.type !== 'tool')) return choice;
  const { name: _, ...rest } = choice;
  return { ...rest, type: 'auto' };
}

/** Returns the messages that the model received, for a message of an earlier reply that the client sends back. */
function plainMessages(message: unknown): unknown[] {
  if (!isObject(message) || !Array.isArray(message.content)) return [message];
  const ours = new Set(
    message.content.flatMap((block) =>
      isObject(block) && block.type === 'mcp_tool_use' && isOurs(block.server_name) ? [block.id] : [],
    ),
  );
  if (ours.size === 0) return [message];
  const messages: { role: unknown; content: unknown[] }[] = [];
  for (const block of message.content) {
    const isResult = isObject(block) && block.type === 'mcp_tool_result' && ours.has(block.tool_use_id);
    const role = isResult ? 'user' : message.role;
    if (messages.at(-1)?.role !== role) messages.push({ role, content: [] });
    messages.at(-1)?.content.push(isResult ? { ...(block as JsonObject), type: 'tool_result' } : plainBlock(block));
  }
  return messages;
}

function plainBlock(block: unknown): unknown {
  if (!isObject(block) || block.type !== 'mcp_tool_use' || !isOurs(block.server_name)) return block;
  const { server_name: server, name, ...rest } = block;
  return { ...rest, type: 'tool_use', name: modelName(String(server).slice(serverPrefix.length), String(name)) };
}

/** `tool_configuration` of a server: `{enabled, allowed_tools}`. */
function allowedBy(configuration: unknown, path: string): (tool: string) => boolean {
  if (!isObject(configuration)) return () => true;
  if (configuration.enabled === false) return () => false;
  return amongNames(configuration.allowed_tools, `${path}.allowed_tools`);
}

/** `default_config` and `configs` of a toolset: `{enabled}`. */
function enabledBy(toolset: JsonObject, path: string): (tool: string) => boolean {
  const { default_config: all, configs } = toolset;
  if (configs !== undefined && configs !== null && !isObject(configs)) {
    throw new GatewayError('bad_request', { message: `${path}.configs: an object is expected`, param: `${path}.configs` });
  }
  return (tool) => {
    const own = isObject(configs) && Object.hasOwn(configs, tool) ? configs[tool] : undefined;
    const stated = isObject(own) && own.enabled !== undefined ? own.enabled : isObject(all) ? all.enabled : undefined;
    return stated !== false;
  };
}

function isToolset(tool: unknown): tool is JsonObject {
  return isObject(tool) && tool.type === 'mcp_toolset';
}
