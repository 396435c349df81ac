import type { JsonObject } from '../../../../../core/contract/values/json/json.ts';
import type { RichReply } from '../rich-replies.ts';
import { named } from '../wires/wire.ts';

const provider = { id: 'anthropic', name: 'anthropic', model: 'claude-opus-4-6', settings: {} };
const usage = { input_tokens: 20, output_tokens: 12, output_tokens_details: { thinking_tokens: 5 } };
const head = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-opus-4-6' };
const ending = (reason: string): JsonObject => ({ stop_reason: reason, stop_sequence: null });

/** A reply whose blocks stream as in the API: empty first, then in pieces. */
function reply(name: string, content: readonly JsonObject[], reason = 'end_turn'): RichReply {
  return {
    name: `anthropic-${name}`,
    provider,
    plain: { ...head, content, ...ending(reason), usage },
    events: [
      { type: 'message_start', message: { ...head, content: [], stop_reason: null, stop_sequence: null, usage } },
      ...content.flatMap((block, index) => [
        { type: 'content_block_start', index, content_block: openingOf(block) },
        ...deltasOf(block).map((delta) => ({ type: 'content_block_delta', index, delta })),
        { type: 'content_block_stop', index },
      ]),
      { type: 'message_delta', delta: ending(reason), usage },
      { type: 'message_stop' },
    ].map(named),
  };
}

function openingOf(block: JsonObject): JsonObject {
  if (block.type === 'text') return { ...block, text: '', ...(block.citations ? { citations: [] } : {}) };
  if (block.type === 'thinking') return { ...block, thinking: '', signature: '' };
  return 'input' in block ? { ...block, input: {} } : block;
}

function deltasOf(block: JsonObject): JsonObject[] {
  if (block.type === 'text') {
    const citations = (block.citations ?? []) as JsonObject[];
    return [...citations.map((citation) => ({ type: 'citations_delta', citation })), { type: 'text_delta', text: block.text }];
  }
  if (block.type === 'thinking') {
    return [
      { type: 'thinking_delta', thinking: block.thinking },
      { type: 'signature_delta', signature: block.signature },
    ];
  }
  return 'input' in block ? [{ type: 'input_json_delta', partial_json: JSON.stringify(block.input) }] : [];
}

const webCitation = {
  type: 'web_search_result_location',
  url: 'https://example.com/bern',
  title: 'Bern',
  encrypted_index: 'ZW5j',
  cited_text: 'Bern is the capital.',
};
const documentCitation = {
  type: 'page_location',
  cited_text: 'The seat of government is Bern.',
  document_index: 0,
  document_title: 'Almanac',
  start_page_number: 3,
  end_page_number: 4,
};
const search = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'capital' } };
const found = {
  type: 'web_search_tool_result',
  tool_use_id: 'srvtoolu_1',
  content: [
    { type: 'web_search_result', url: 'https://example.com/bern', title: 'Bern', encrypted_content: 'YWJj', page_age: null },
  ],
};

/** A reply after a call from inside the provider's sandbox. `message_start` contains all of it. */
const wholeAtStart: RichReply = (() => {
  const content = [
    { type: 'text', text: 'Ready. ' },
    { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Bern' } },
  ];
  const message = { ...head, content, ...ending('tool_use'), usage };
  return {
    name: 'anthropic-whole-at-start',
    provider,
    plain: message,
    events: [{ type: 'message_start', message }, { type: 'message_stop' }].map(named),
  };
})();

/** https://platform.claude.com/docs/en/api/messages, `…/build-with-claude/citations` and `…/tool-use/web-search-tool`, 2026-11-22. */
export const anthropicReplies: readonly RichReply[] = [
  reply('citations', [
    { type: 'text', text: 'Sources say: ' },
    { type: 'text', text: 'it is Bern', citations: [webCitation] },
    { type: 'text', text: ', since 1848.', citations: [documentCitation] },
  ]),
  reply('server-tools', [
    { type: 'thinking', thinking: 'I should search.', signature: 'c2ln' },
    { type: 'redacted_thinking', data: 'c2VhbGVk' },
    search,
    found,
    { type: 'text', text: 'Bern.' },
  ]),
  reply('block-of-tomorrow', [
    { type: 'hologram', shape: 'cube' },
    { type: 'text', text: 'Look.' },
  ]),
  wholeAtStart,
];
