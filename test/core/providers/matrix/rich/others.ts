import type { JsonObject } from '../../../../../core/contract/values/json/json.ts';
import type { RichReply } from '../rich-replies.ts';
import { data, named } from '../wires/wire.ts';

const cohere = { id: 'cohere', name: 'cohere', model: 'command-a-03-2025', settings: {} };
const counts = { billed_units: { input_tokens: 20, output_tokens: 12 }, tokens: { input_tokens: 20, output_tokens: 12 } };
const citations = [
  {
    start: 0,
    end: 4,
    text: 'Bern',
    content_index: 1,
    sources: [{ type: 'document', id: 'd1', document: { id: 'd1', title: 'Bern', url: 'https://example.com/bern' } }],
  },
  { start: 9, end: 13, text: '1848', content_index: 1, sources: [{ type: 'document', id: 'd2', document: { id: 'd2' } }] },
];

/** https://docs.cohere.com/reference/chat and `…/docs/rag-citations`, 2026-11-22. */
const cohereCitations: RichReply = {
  name: 'cohere-citations',
  provider: cohere,
  plain: {
    id: 'c1',
    finish_reason: 'COMPLETE',
    message: {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Two sources.' },
        { type: 'text', text: 'Bern, in 1848.' },
      ],
      citations,
    },
    usage: counts,
  },
  events: [
    { type: 'message-start', id: 'c1', delta: { message: { role: 'assistant' } } },
    { type: 'content-start', index: 0, delta: { message: { content: { type: 'thinking', thinking: '' } } } },
    { type: 'content-delta', index: 0, delta: { message: { content: { thinking: 'Two sources.' } } } },
    { type: 'content-end', index: 0 },
    { type: 'content-start', index: 1, delta: { message: { content: { type: 'text', text: '' } } } },
    { type: 'content-delta', index: 1, delta: { message: { content: { text: 'Bern' } } } },
    { type: 'citation-start', index: 0, delta: { message: { citations: citations[0] } } },
    { type: 'citation-end', index: 0 },
    { type: 'content-delta', index: 1, delta: { message: { content: { text: ', in 1848.' } } } },
    { type: 'citation-start', index: 1, delta: { message: { citations: citations[1] } } },
    { type: 'citation-end', index: 1 },
    { type: 'content-end', index: 1 },
    { type: 'message-end', id: 'c1', delta: { finish_reason: 'COMPLETE', usage: counts } },
  ].map(named),
};

const mistralHead = { id: 'm1', created: 1_763_683_200, model: 'magistral-small-latest' };
const mistralUsage = { prompt_tokens: 20, completion_tokens: 12, total_tokens: 32 };
const mistral = { id: 'mistral-ai', name: 'mistral-ai', model: 'magistral-small-latest', settings: {} };
const call = (id: string, city: string): JsonObject => ({
  id,
  type: 'function',
  function: { name: 'get_weather', arguments: JSON.stringify({ city }) },
});

/** `pieces` are the deltas of the stream. */
function mistralReply(name: string, message: JsonObject, pieces: readonly JsonObject[], finish = 'stop'): RichReply {
  const chunk = (delta: JsonObject, finish_reason: string | null, more: JsonObject = {}): JsonObject => ({
    ...mistralHead,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason }],
    ...more,
  });
  return {
    name: `mistral-${name}`,
    provider: mistral,
    plain: {
      ...mistralHead,
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: finish }],
      usage: mistralUsage,
    },
    events: [
      chunk({ role: 'assistant', content: '' }, null),
      ...pieces.map((piece) => chunk(piece, null)),
      chunk({ content: '' }, finish, { usage: mistralUsage }),
      '[DONE]',
    ].map(data),
  };
}

const thinking = { type: 'thinking', thinking: [{ type: 'text', text: 'Sources.' }] };
const reference = { type: 'reference', reference_ids: [1] };
const said = (text: string): JsonObject => ({ type: 'text', text });

const openai = { id: 'openai', name: 'openai-responses-only', model: 'gpt-5-codex', settings: {} };
const responsesUsage = { input_tokens: 20, output_tokens: 12, output_tokens_details: { reasoning_tokens: 5 }, total_tokens: 32 };
const cited = { type: 'url_citation', start_index: 0, end_index: 4, url: 'https://example.com/bern', title: 'Bern' };
const items = {
  reasoning: {
    id: 'rs_1',
    type: 'reasoning',
    summary: [],
    content: [{ type: 'reasoning_text', text: 'I should search and draw.' }],
  },
  search: { id: 'ws_1', type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'capital' } },
  image: { id: 'ig_1', type: 'image_generation_call', status: 'completed', result: 'iVBORw0KGgo=', output_format: 'png' },
  message: {
    id: 'msg_1',
    type: 'message',
    status: 'completed',
    role: 'assistant',
    content: [
      { type: 'output_text', text: 'It is ', annotations: [], logprobs: [] },
      { type: 'output_text', text: 'Bern.', annotations: [cited], logprobs: [] },
    ],
  },
};

/** A response with these items. Each part streams in one piece. */
function responsesReply(name: string, output: readonly JsonObject[]): RichReply {
  const response = (status: string, done: readonly JsonObject[]): JsonObject => ({
    id: 'resp_1',
    object: 'response',
    created_at: 1_763_683_200,
    status,
    model: 'gpt-5-codex',
    output: done,
    usage: status === 'completed' ? responsesUsage : null,
  });
  return {
    name: `responses-${name}`,
    provider: openai,
    plain: response('completed', output),
    events: [
      { type: 'response.created', response: response('in_progress', []) },
      ...output.flatMap((item, output_index) => [
        { type: 'response.output_item.added', output_index, item: openingItem(item) },
        ...partsOf(item).flatMap((part, content_index) =>
          partEvents(part).map((event) => ({ ...event, item_id: item.id, output_index, content_index })),
        ),
        { type: 'response.output_item.done', output_index, item },
      ]),
      { type: 'response.completed', response: response('completed', output) },
    ].map((event, sequence_number) => named({ ...event, sequence_number })),
  };
}

function openingItem(item: JsonObject): JsonObject {
  if (Array.isArray(item.content)) return { ...item, content: [] };
  return 'result' in item ? { ...item, status: 'in_progress', result: null } : { ...item, status: 'in_progress' };
}

function partsOf({ content }: JsonObject): JsonObject[] {
  return Array.isArray(content) ? content : [];
}

function partEvents(part: JsonObject): JsonObject[] {
  const { type, text, annotations } = part;
  const added = { type: 'response.content_part.added', part: { ...part, text: '', ...(annotations ? { annotations: [] } : {}) } };
  if (type === 'reasoning_text') return [added, { type: 'response.reasoning_text.delta', delta: text }];
  const listed = Array.isArray(annotations) ? annotations : [];
  return [
    added,
    { type: 'response.output_text.delta', delta: text, logprobs: [] },
    ...listed.map((annotation, annotation_index) => ({
      type: 'response.output_text.annotation.added',
      annotation_index,
      annotation,
    })),
    { type: 'response.output_text.done', text, logprobs: [] },
    { type: 'response.content_part.done', part },
  ];
}

/** https://platform.openai.com/docs/api-reference/responses; `reasoning_text` as LM Studio and vLLM send it, 2026-11-22. */
const responsesOnly = responsesReply('items', Object.values(items));

const citedFile = { type: 'file_citation', index: 13, file_id: 'file-1', filename: 'almanac.pdf' };
const citedOutput = {
  type: 'container_file_citation',
  container_id: 'cntr_1',
  file_id: 'cfile_1',
  filename: 'plot.png',
  start_index: 0,
  end_index: 4,
};

/** https://platform.openai.com/docs/guides/tools-file-search, `…/tools-code-interpreter`, `…/tools-connectors-mcp`, 2026-11-22. */
const responsesTools = responsesReply('tools', [
  {
    id: 'fs_1',
    type: 'file_search_call',
    status: 'completed',
    queries: ['capital'],
    results: [{ file_id: 'file-1', filename: 'almanac.pdf', score: 0.9, text: 'The seat of government is Bern.' }],
  },
  {
    id: 'ci_1',
    type: 'code_interpreter_call',
    status: 'completed',
    code: 'print("Bern")',
    container_id: 'cntr_1',
    outputs: [{ type: 'logs', logs: 'Bern' }],
  },
  { id: 'mcp_1', type: 'mcp_call', server_label: 'atlas', name: 'look_up', arguments: '{}', output: 'Bern', error: null },
  {
    id: 'msg_1',
    type: 'message',
    status: 'completed',
    role: 'assistant',
    content: [{ type: 'output_text', text: 'Bern, in 1848.', annotations: [citedOutput, citedFile], logprobs: [] }],
  },
]);

const perplexity = { id: 'perplexity-ai', name: 'perplexity-ai', model: 'sonar', settings: {} };
const sonarUsage = { prompt_tokens: 9, completion_tokens: 12, total_tokens: 21 };
const sources = {
  citations: ['https://example.com/bern', 'https://example.com/zug'],
  search_results: [
    { title: 'Bern', url: 'https://example.com/bern', date: '2025-01-02', snippet: 'A city' },
    { title: 'Zug', url: 'https://example.com/zug', date: null, snippet: 'A town' },
  ],
};

/** https://docs.perplexity.ai/api-reference/chat-completions-post, 2026-11-22: sources stand beside the choices, in every event. */
function perplexityReply(name: string, pieces: readonly string[]): RichReply {
  const head = { id: 'p1', model: 'sonar', created: 1_763_683_200, usage: sonarUsage, ...sources };
  const content = pieces.join('');
  const last = { index: 0, delta: { role: 'assistant', content: '' }, message: { role: 'assistant', content } };
  return {
    name: `perplexity-${name}`,
    provider: perplexity,
    overChat: false,
    plain: {
      ...head,
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    },
    events: [
      ...pieces.map((piece) => ({
        ...head,
        object: 'chat.completion.chunk',
        choices: [{ index: 0, delta: { role: 'assistant', content: piece }, finish_reason: null }],
      })),
      { ...head, object: 'chat.completion.done', choices: [{ ...last, finish_reason: 'stop' }] },
    ].map(data),
  };
}

export const otherReplies: readonly RichReply[] = [
  cohereCitations,
  // https://docs.mistral.ai/capabilities/citations and …/capabilities/reasoning, 2026-11-22.
  mistralReply('references', { content: [thinking, said('Here'), reference, said(' it is.')] }, [
    { content: [thinking] },
    { content: [said('Here')] },
    { content: [reference] },
    { content: ' it is.' },
  ]),
  mistralReply(
    'calls-without-index',
    { content: '', tool_calls: [call('a1b2c3d4e', 'Bern'), call('f5g6h7i8j', 'Zug')] },
    [{ tool_calls: [call('a1b2c3d4e', 'Bern')] }, { tool_calls: [call('f5g6h7i8j', 'Zug')] }],
    'tool_calls',
  ),
  responsesOnly,
  responsesTools,
  perplexityReply('markers', ['Zug', '[2] and Bern[', '1][2].']),
  perplexityReply('no-markers', ['Bern', ', not [3].']),
];
