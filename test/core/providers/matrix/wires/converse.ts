import type { JsonObject } from '../../../../../core/contract/values/json/json.ts';
import { converseFrames } from '../../bedrock/frames.ts';
import type { ModelReply } from '../scenarios.ts';
import { halves, type Wire } from './wire.ts';

const ends = {
  end: 'end_turn',
  length: 'max_tokens',
  filter: 'content_filtered',
  'stop-sequence': 'stop_sequence',
  calls: 'tool_use',
};

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html */
export const converse: Wire = {
  plain: (reply) => ({
    output: { message: { role: 'assistant', content: blocksOf(reply) } },
    stopReason: ends[reply.end],
    usage: usageOf(reply),
    metrics: { latencyMs: 100 },
  }),
  stream: (reply) => [
    { event: 'messageStart', data: { role: 'assistant' } },
    ...blocksOf(reply).flatMap((block, index) => [
      ...startOf(block).map((start) => ({ event: 'contentBlockStart', data: { contentBlockIndex: index, start } })),
      ...deltasOf(block).map((delta) => ({ event: 'contentBlockDelta', data: { contentBlockIndex: index, delta } })),
      { event: 'contentBlockStop', data: { contentBlockIndex: index } },
    ]),
    { event: 'messageStop', data: { stopReason: ends[reply.end] } },
    { event: 'metadata', data: { usage: usageOf(reply), metrics: { latencyMs: 100 } } },
  ],
  frames: converseFrames,
  streamType: 'application/vnd.amazon.eventstream',
  fault: { event: 'modelStreamErrorException', data: { message: 'The model failed' } },
  limited: { message: 'Too many requests, please wait before trying again.' },
};

function blocksOf({ thoughts, sealed, text, calls }: ModelReply): JsonObject[] {
  return [
    ...(thoughts ?? []).map((thought) => ({ reasoningContent: { reasoningText: thought } })),
    ...(sealed === undefined ? [] : [{ reasoningContent: { redactedContent: sealed } }]),
    ...(text === undefined ? [] : [{ text }]),
    ...(calls ?? []).map(({ id, name, arguments: input }) => ({ toolUse: { toolUseId: id, name, input } })),
  ];
}

function startOf({ toolUse }: JsonObject): JsonObject[] {
  const { toolUseId, name } = (toolUse ?? {}) as JsonObject;
  return toolUse === undefined ? [] : [{ toolUse: { toolUseId, name } }];
}

function deltasOf(block: JsonObject): JsonObject[] {
  if (typeof block.text === 'string') return halves(block.text).map((text) => ({ text }));
  if (block.toolUse !== undefined) {
    const input = JSON.stringify((block.toolUse as JsonObject).input);
    return input === '{}' ? [] : halves(input).map((piece) => ({ toolUse: { input: piece } }));
  }
  const { reasoningText, redactedContent } = block.reasoningContent as {
    reasoningText?: { text: string; signature: string };
    redactedContent?: string;
  };
  if (!reasoningText) return [{ reasoningContent: { redactedContent } }];
  const pieces = halves(reasoningText.text).map((text): JsonObject => ({ reasoningContent: { text } }));
  return [...pieces, { reasoningContent: { signature: reasoningText.signature } }];
}

function usageOf({ tokens }: ModelReply): JsonObject {
  return {
    inputTokens: tokens.input,
    cacheReadInputTokens: tokens.cached,
    outputTokens: tokens.output,
    totalTokens: tokens.input + tokens.cached + tokens.output,
  };
}
