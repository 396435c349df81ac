import type { StreamEvent } from '../../../../../core/contract/provider/stream-event.ts';
import type { JsonObject } from '../../../../../core/contract/values/json/json.ts';
import type { ModelReply } from '../scenarios.ts';
import { halves, named, type Wire } from './wire.ts';

/** https://platform.openai.com/docs/api-reference/responses */
export const openAiResponses: Wire = {
  plain: (reply) => response(reply, outputOf(reply)),
  stream(reply) {
    let sequence = 0;
    const events: StreamEvent[] = [];
    const send = (type: string, fields: JsonObject): void =>
      void events.push(named({ type, sequence_number: sequence++, ...fields }));
    const opening = { ...response(reply, []), status: 'in_progress', incomplete_details: null, usage: null };
    send('response.created', { response: opening });
    for (const [index, item] of outputOf(reply).entries()) {
      const at = { item_id: item.id, output_index: index };
      const empty = { message: { content: [] }, function_call: { arguments: '' }, reasoning: { summary: [] } };
      const opened = { ...item, ...empty[item.type as keyof typeof empty], status: 'in_progress' };
      send('response.output_item.added', { output_index: index, item: opened });
      if (item.type === 'function_call') {
        for (const delta of halves(String(item.arguments))) send('response.function_call_arguments.delta', { ...at, delta });
        send('response.function_call_arguments.done', { ...at, arguments: item.arguments });
      }
      for (const [position, part] of ((item.content ?? []) as JsonObject[]).entries()) {
        const inPart = { ...at, content_index: position };
        send('response.content_part.added', { ...inPart, part: { ...part, text: '' } });
        for (const delta of halves(String(part.text))) send('response.output_text.delta', { ...inPart, delta, logprobs: [] });
        send('response.output_text.done', { ...inPart, text: part.text, logprobs: [] });
        send('response.content_part.done', { ...inPart, part });
      }
      for (const [position, part] of ((item.summary ?? []) as JsonObject[]).entries()) {
        const inPart = { ...at, summary_index: position };
        send('response.reasoning_summary_part.added', { ...inPart, part: { ...part, text: '' } });
        for (const delta of halves(String(part.text))) send('response.reasoning_summary_text.delta', { ...inPart, delta });
        send('response.reasoning_summary_text.done', { ...inPart, text: part.text });
        send('response.reasoning_summary_part.done', { ...inPart, part });
      }
      send('response.output_item.done', { output_index: index, item });
    }
    const whole = response(reply, outputOf(reply));
    send(`response.${String(whole.status)}`, { response: whole });
    return events;
  },
  fault: named({ type: 'error', sequence_number: 9, code: 'server_error', message: 'The server had an error', param: null }),
  limited: { error: { message: 'Rate limit reached', type: 'requests', param: null, code: 'rate_limit_exceeded' } },
};

function outputOf(reply: ModelReply): JsonObject[] {
  const thoughts = (reply.thoughts ?? []).map(({ text, signature }, index) => ({
    id: `rs_${index}`,
    type: 'reasoning',
    summary: [{ type: 'summary_text', text }],
    encrypted_content: signature,
  }));
  const content = [{ type: 'output_text', text: reply.text, annotations: [], logprobs: [] }];
  const message = { id: 'msg_0', type: 'message', status: 'completed', role: 'assistant', content };
  const calls = (reply.calls ?? []).map(({ id, name, arguments: args }, index) => ({
    id: `fc_${index}`,
    type: 'function_call',
    status: 'completed',
    call_id: id,
    name,
    arguments: JSON.stringify(args),
  }));
  return [...thoughts, ...(reply.text === undefined ? [] : [message]), ...calls];
}

function response({ end, tokens }: ModelReply, output: JsonObject[]): JsonObject {
  const reason = end === 'length' ? 'max_output_tokens' : end === 'filter' ? 'content_filter' : null;
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 1_763_683_200,
    status: reason === null ? 'completed' : 'incomplete',
    error: null,
    incomplete_details: reason === null ? null : { reason },
    model: 'gpt-5-mini-2025-08-07',
    output,
    parallel_tool_calls: true,
    tool_choice: 'auto',
    tools: [],
    usage: {
      input_tokens: tokens.input + tokens.cached,
      input_tokens_details: { cached_tokens: tokens.cached },
      output_tokens: tokens.output,
      output_tokens_details: { reasoning_tokens: tokens.thought },
      total_tokens: tokens.input + tokens.cached + tokens.output,
    },
  };
}
