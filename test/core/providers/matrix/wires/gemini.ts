import type { JsonObject } from '../../../../../core/contract/values/json.ts';
import type { ModelAnswer } from '../scenarios.ts';
import { data, halves, type Wire } from './wire.ts';

const ends = { end: 'STOP', length: 'MAX_TOKENS', filter: 'SAFETY', 'stop-sequence': 'STOP', calls: 'STOP' };

/** https://ai.google.dev/api/generate-content; the signature of the reasoning is on the first call, or on the text. */
export const gemini: Wire = {
  plain: (answer) => ({
    candidates: [{ content: { parts: partsOf(answer), role: 'model' }, finishReason: ends[answer.end], index: 0 }],
    usageMetadata: usageOf(answer),
    ...head,
  }),
  stream(answer) {
    const event = (parts: JsonObject[], more: JsonObject = {}): JsonObject => ({
      candidates: [{ content: { parts, role: 'model' }, ...more, index: 0 }],
      usageMetadata: usageOf(answer),
      ...head,
    });
    const pieces = partsOf(answer).flatMap(piecesOf);
    return [...pieces.map((part) => event([part])), event([{ text: '' }], { finishReason: ends[answer.end] })].map(data);
  },
  fault: data({ error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } }),
  limited: { error: { code: 429, message: 'Resource has been exhausted.', status: 'RESOURCE_EXHAUSTED' } },
};

const head = { modelVersion: 'gemini-3.8-flash', responseId: 'resp-of-google' };

function partsOf({ thoughts, text, calls }: ModelAnswer): JsonObject[] {
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

function usageOf({ tokens }: ModelAnswer): JsonObject {
  return {
    promptTokenCount: tokens.input + tokens.cached,
    cachedContentTokenCount: tokens.cached,
    candidatesTokenCount: tokens.output - tokens.thought,
    thoughtsTokenCount: tokens.thought,
    totalTokenCount: tokens.input + tokens.cached + tokens.output,
  };
}
