import type { StreamEvent } from '../../../../../core/contract/provider/stream-event.ts';
import type { JsonObject } from '../../../../../core/contract/values/json/json.ts';
import { converseFrames } from '../../bedrock/frames.ts';
import type { RichReply } from '../rich-replies.ts';

const provider = { id: 'bedrock', name: 'bedrock', model: 'amazon.nova-2-lite-v1:0', settings: { aws_region: 'eu-central-1' } };
const usage = { inputTokens: 20, outputTokens: 12, totalTokens: 32 };

/** A block of a reply, with its events in the stream: its start, if Converse sends one, and its deltas. */
interface Block {
  readonly whole: JsonObject;
  readonly start?: JsonObject;
  readonly deltas: readonly JsonObject[];
}

function reply(name: string, blocks: readonly Block[], more: { stopReason?: string; fields?: JsonObject } = {}): RichReply {
  const stop = { stopReason: more.stopReason ?? 'end_turn', ...more.fields };
  const at = (event: string, contentBlockIndex: number, data: JsonObject = {}): StreamEvent => ({
    event,
    data: { contentBlockIndex, ...data },
  });
  return {
    name: `converse-${name}`,
    provider,
    plain: { output: { message: { role: 'assistant', content: blocks.map(({ whole }) => whole) } }, ...stop, usage },
    events: [
      { event: 'messageStart', data: { role: 'assistant' } },
      ...blocks.flatMap(({ start, deltas }, index) => [
        ...(start ? [at('contentBlockStart', index, { start })] : []),
        ...deltas.map((delta) => at('contentBlockDelta', index, { delta })),
        at('contentBlockStop', index),
      ]),
      { event: 'messageStop', data: stop },
      { event: 'metadata', data: { usage } },
    ],
    frames: converseFrames,
    streamType: 'application/vnd.amazon.eventstream',
  };
}

const text = (words: string): Block => ({
  whole: { text: words },
  deltas: [{ text: words.slice(0, 3) }, { text: words.slice(3) }],
});
const web = {
  title: 'Bern',
  source: 'https://example.com/bern',
  sourceContent: [{ text: 'Bern is the capital.' }],
  location: { web: { url: 'https://example.com/bern', domain: 'example.com' } },
};
const page = {
  title: 'Almanac',
  sourceContent: [{ text: 'The seat is Bern.' }],
  location: { documentPage: { documentIndex: 0, start: 3, end: 4 } },
};
const bytes = Buffer.from('a sealed thought in two pieces').toString('base64');
const half = (from: number, to?: number): string =>
  Buffer.from('a sealed thought in two pieces'.slice(from, to)).toString('base64');
const search = { toolUseId: 't1', name: 'nova_grounding', type: 'server_tool_use' };
const found = { toolUseId: 't1', status: 'success', content: [{ json: { found: 1 } }] };

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ContentBlock.html and `…_ContentBlockDelta.html`, 2026-11-22. */
export const converseReplies: readonly RichReply[] = [
  reply('citations', [
    text('Sources say: '),
    {
      whole: { citationsContent: { content: [{ text: 'it is Bern' }], citations: [web, page] } },
      deltas: [{ text: 'it is Bern' }, { citation: web }, { citation: page }],
    },
    text(' since 1848.'),
  ]),
  reply('sealed-in-pieces', [
    {
      whole: { reasoningContent: { redactedContent: bytes } },
      deltas: [half(0, 10), half(10)].map((piece) => ({ reasoningContent: { redactedContent: piece } })),
    },
    { whole: { reasoningContent: { reasoningText: { text: 'Hm.' } } }, deltas: [{ reasoningContent: { text: 'Hm.' } }] },
    text('Done.'),
  ]),
  reply('image', [
    text('Here: '),
    {
      whole: { image: { format: 'png', source: { bytes: 'iVBORw0KGgo=' } } },
      start: { image: { format: 'png' } },
      deltas: [{ image: { source: { bytes: 'iVBORw0KGgo=' } } }],
    },
  ]),
  reply('server-tools', [
    {
      whole: { toolUse: { ...search, input: { query: 'capital' } } },
      start: { toolUse: search },
      deltas: [{ toolUse: { input: '{"query":' } }, { toolUse: { input: '"capital"}' } }],
    },
    {
      whole: { toolResult: found },
      start: { toolResult: { toolUseId: 't1', status: 'success' } },
      deltas: [{ toolResult: found.content }],
    },
    text('Bern.'),
  ]),
  reply('malformed-call', [text('I will call')], { stopReason: 'malformed_tool_use' }),
  reply('filtered', [text('Once upon')], { stopReason: 'guardrail_intervened' }),
  reply('stop-sequence', [text('Once upon')], {
    stopReason: 'stop_sequence',
    fields: { additionalModelResponseFields: { delta: { stop_sequence: 'END' } } },
  }),
];
