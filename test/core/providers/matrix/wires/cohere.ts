import type { JsonObject } from '../../../../../core/contract/values/json/json.ts';
import type { ModelReply } from '../scenarios.ts';
import { halves, named, type Wire } from './wire.ts';

const ends = { end: 'COMPLETE', length: 'MAX_TOKENS', filter: 'COMPLETE', 'stop-sequence': 'STOP_SEQUENCE', calls: 'TOOL_CALL' };

/** https://docs.cohere.com/reference/chat and its stream. Text together with tool calls is the model's plan. */
export const cohere: Wire = {
  plain(reply) {
    const { plan, content } = messageOf(reply);
    const calls = callsOf(reply);
    const message: JsonObject = { role: 'assistant' };
    if (content.length > 0) message.content = content;
    if (plan !== undefined) message.tool_plan = plan;
    if (calls.length > 0) message.tool_calls = calls;
    return { id: 'c1', message, finish_reason: ends[reply.end], usage: usageOf(reply) };
  },
  stream(reply) {
    const { plan, content } = messageOf(reply);
    return [
      { id: 'c1', type: 'message-start', delta: { message: { role: 'assistant', content: [], tool_plan: '', tool_calls: [] } } },
      ...content.flatMap((part, index) => {
        const kind = String(part.type);
        return [
          { type: 'content-start', index, delta: { message: { content: { type: kind, [kind]: '' } } } },
          ...halves(String(part[kind])).map((text) => ({
            type: 'content-delta',
            index,
            delta: { message: { content: { [kind]: text } } },
          })),
          { type: 'content-end', index },
        ];
      }),
      ...(plan === undefined ? [] : halves(plan)).map((text) => ({
        type: 'tool-plan-delta',
        delta: { message: { tool_plan: text } },
      })),
      ...callsOf(reply).flatMap((call, index) => {
        const { name, arguments: text } = call.function as { name: string; arguments: string };
        const opened = { ...call, function: { name, arguments: '' } };
        return [
          { type: 'tool-call-start', index, delta: { message: { tool_calls: opened } } },
          ...(text === '' ? [] : halves(text)).map((piece) => ({
            type: 'tool-call-delta',
            index,
            delta: { message: { tool_calls: { function: { arguments: piece } } } },
          })),
          { type: 'tool-call-end', index },
        ];
      }),
      { type: 'message-end', id: 'c1', delta: { finish_reason: ends[reply.end], usage: usageOf(reply) } },
    ].map(named);
  },
  fault: named({ type: 'message-end', id: 'c1', delta: { finish_reason: 'ERROR', error: 'internal error' } }),
  limited: { id: 'e1', message: 'You have exceeded the rate limit.' },
};

function messageOf({ thoughts, text, calls }: ModelReply): { plan?: string; content: JsonObject[] } {
  const thinking = (thoughts ?? []).map((thought) => ({ type: 'thinking', thinking: thought.text }));
  if (text === undefined) return { content: thinking };
  return calls ? { plan: text, content: thinking } : { content: [...thinking, { type: 'text', text }] };
}

function callsOf({ calls }: ModelReply): JsonObject[] {
  return (calls ?? []).map(({ id, name, arguments: args }) => {
    const text = JSON.stringify(args);
    return { id, type: 'function', function: { name, arguments: text === '{}' ? '' : text } };
  });
}

function usageOf({ tokens }: ModelReply): JsonObject {
  const counts = { input_tokens: tokens.input + tokens.cached, output_tokens: tokens.output };
  return { billed_units: counts, tokens: counts, cached_tokens: tokens.cached };
}
