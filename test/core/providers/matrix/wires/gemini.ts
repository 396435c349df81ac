import type { JsonObject } from '../../../../../core/contract/values/json/json.ts';
import type { ModelReply } from '../scenarios.ts';
import { data, halves, type Wire } from './wire.ts';

const ends = { end: 'STOP', length: 'MAX_TOKENS', filter: 'SAFETY', 'stop-sequence': 'STOP', calls: 'STOP' };

/** https://ai.google.dev/api/generate-content; the signature of the reasoning is on the first call, or on the text. */
export const gemini: Wire = {
  plain: (reply) => ({
    candidates: [{ content: { parts: partsOf(reply), role: 'model' }, finishReason: ends[reply.end], index: 0 }],
    usageMetadata: usageOf(reply),
    ...head,
  }),
  stream(reply) {
    const event = (parts: JsonObject[], more: JsonObject = {}): JsonObject => ({
      candidates: [{ content: { parts, role: 'model' }, ...more, index: 0 }],
      usageMetadata: usageOf(reply),
      ...head,
    });
    const pieces = partsOf(reply).flatMap(piecesOf);
    return [...pieces.map((part) => event([part])), event([{ text: '' }], { finishReason: ends[reply.end] })].map(data);
  },
  fault: data({ error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } }),
  limited: { error: { code: 429, message: 'Resource has been exhausted.', status: 'RESOURCE_EXHAUSTED' } },
};

const head = { modelVersion: 'gemini-3.8-flash', responseId: 'resp-of-google' };

function partsOf({ thoughts, text, calls }: ModelReply): JsonObject[] {
  const signature = thoughts?.[0]?.signature;
  return [
    ...(thoughts ?? []).map((thought) => ({ text: thought.text, thought: true })),
    ...(text === undefined ? [] : [{ text }]),
    ...(calls ?? []).map(({ id, name, arguments: args }, index) => ({
      functionCall: { id, name, args },
      ...(index === 0 && signature !== undefined ? { thoughtSignature: signature } : {}),
    })),
  ];
}

function piecesOf(part: JsonObject): JsonObject[] {
  return typeof part.text === 'string' ? halves(part.text).map((text) => ({ ...part, text })) : [part];
}

function usageOf({ tokens }: ModelReply): JsonObject {
  return {
    promptTokenCount: tokens.input + tokens.cached,
    cachedContentTokenCount: tokens.cached,
    candidatesTokenCount: tokens.output - tokens.thought,
    thoughtsTokenCount: tokens.thought,
    totalTokenCount: tokens.input + tokens.cached + tokens.output,
  };
}
