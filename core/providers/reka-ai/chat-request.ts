import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject, objectsIn } from '../../contract/values/json/json.ts';
import { badParam } from '../../formats/bad-param.ts';
import { noteOnce } from '../../formats/note-once.ts';
import { type LostParams, openAiOnly, passedParams } from '../../formats/openai/passed-params.ts';
import { toolArguments } from '../../formats/openai/tool-arguments.ts';

/** Chat parameters that are read here and sent under other names or in another form. All others pass. */
const read: ReadonlySet<string> = new Set([
  ...['messages', 'max_completion_tokens', 'stop', 'tools', 'tool_choice', 'stream_options'],
]);

/** Chat parameters that the provider lacks. */
const lost: LostParams = {
  ...openAiOnly,
  function_call: undefined,
  functions: undefined,
  logprobs: false,
  metadata: {},
  modalities: undefined,
  n: 1,
  parallel_tool_calls: true,
  reasoning_effort: undefined,
  response_format: undefined,
  service_tier: 'auto',
  top_logprobs: 0,
  user: undefined,
};

/**
 * Converts an OpenAI chat call to a call of Reka's chat (https://docs.reka.ai/chat/overview). Throws `bad_request` naming the
 * parameter.
 */
export function chatRequest(params: JsonObject, call: OperationCall): JsonObject {
  const passed = passedParams(params, call, (name) => read.has(name), lost);
  if (params.max_completion_tokens !== undefined) call.adapted.push('max_completion_tokens->max_tokens');
  const maxTokens = params.max_tokens ?? params.max_completion_tokens;
  const stop = typeof params.stop === 'string' ? [params.stop] : params.stop;
  return {
    ...passed,
    messages: messagesOf(params.messages, call),
    ...(maxTokens === undefined || maxTokens === null ? {} : { max_tokens: maxTokens }),
    ...(Array.isArray(stop) ? { stop } : {}),
    ...toolsOf(params, call),
  };
}

function messagesOf(messages: unknown, call: OperationCall): JsonObject[] {
  if (!Array.isArray(messages)) throw badParam('messages', 'a list of messages is expected');
  const turns: JsonObject[] = [];
  for (const [index, message] of messages.entries()) {
    if (!isObject(message)) throw badParam(`messages[${index}]`, 'a message is expected');
    if (message.role === 'tool') {
      const result = { tool_call_id: message.tool_call_id, output: textOf(message.content, call) };
      const last = turns.at(-1);
      if (last?.role === 'tool_output') (last.content as JsonObject[]).push(result);
      else turns.push({ role: 'tool_output', content: [result] });
      continue;
    }
    if (message.role === 'developer') noteOnce(call.adapted, 'messages.role:developer->system');
    const role = message.role === 'developer' ? 'system' : message.role;
    const content = Array.isArray(message.content) ? message.content.map((part) => partOf(part, index)) : message.content;
    const toolCalls = objectsIn(message.tool_calls);
    turns.push({
      role,
      ...(content === null || content === undefined ? {} : { content }),
      ...(toolCalls.length > 0 ? { tool_calls: toolCalls.map((toolCall) => toolCallOf(toolCall, call)) } : {}),
    });
  }
  return turns;
}

function toolCallOf({ id, function: fn }: JsonObject, call: OperationCall): JsonObject {
  const { name, arguments: text }: JsonObject = isObject(fn) ? fn : {};
  return { id, name, parameters: toolArguments(text, call) };
}

/** Media are addresses or data URLs at this provider. Parts of other kinds are passed. */
function partOf(part: unknown, index: number): unknown {
  if (!isObject(part)) return part;
  if (part.type === 'image_url' && isObject(part.image_url)) return { type: 'image_url', image_url: part.image_url.url };
  if (part.type === 'input_audio' && isObject(part.input_audio)) {
    const { data, format } = part.input_audio;
    return { type: 'audio_url', audio_url: `data:audio/${format};base64,${data}` };
  }
  if (part.type === 'file' && isObject(part.file)) {
    const data = part.file.file_data;
    if (typeof data !== 'string') throw badParam(`messages[${index}].content`, 'reka-ai accepts files as data only');
    return { type: 'pdf_url', pdf_url: data.includes(':') ? data : `data:application/pdf;base64,${data}` };
  }
  return part;
}

/** Results of tools are text at this provider. Other parts are reported as dropped. */
function textOf(content: unknown, call: OperationCall): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return JSON.stringify(content ?? '');
  return content
    .map((part) => {
      if (isObject(part) && typeof part.text === 'string') return part.text;
      noteOnce(call.dropped, 'messages.content');
      return '';
    })
    .join('');
}

/** Tools are the functions themselves. A choice of one tool becomes the only tool, and required. */
function toolsOf(params: JsonObject, call: OperationCall): JsonObject {
  if (!Array.isArray(params.tools) || params.tools.length === 0) return {};
  const functions = params.tools.filter(isObject).flatMap(({ function: fn }) => (isObject(fn) ? [fn] : []));
  const choice = params.tool_choice;
  const only = isObject(choice) && isObject(choice.function) ? choice.function.name : null;
  if (only !== null) noteOnce(call.adapted, 'tool_choice');
  const listed = only === null ? functions : functions.filter(({ name }) => name === only);
  const word = only !== null || choice === 'required' ? 'tool' : choice;
  return {
    tools: listed.map(({ name, description, parameters }) => ({
      name,
      ...(description === undefined ? {} : { description }),
      parameters: parameters ?? { type: 'object', properties: {} },
    })),
    ...(typeof word === 'string' ? { tool_choice: word } : {}),
  };
}
