import type { JsonObject } from '../../../../core/contract/values/json/json.ts';

/** The reply of a model, independent of provider formats: `wires/` writes it in each provider's own. */
export interface ModelReply {
  readonly thoughts?: readonly { readonly text: string; readonly signature: string }[];
  /** Reasoning that only the provider can read. */
  readonly sealed?: string;
  readonly text?: string;
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly arguments: JsonObject }[];
  readonly end: 'end' | 'length' | 'filter' | 'stop-sequence' | 'calls';
  readonly tokens: { readonly input: number; readonly cached: number; readonly output: number; readonly thought: number };
}

export type Format = 'chat' | 'messages' | 'responses';

/** One request in each of the three formats, and the model's reply. */
export interface Scenario {
  readonly name: string;
  readonly asked: Readonly<Record<Format, JsonObject>>;
  readonly reply: ModelReply;
}

const tokens = { input: 20, cached: 8, output: 12, thought: 0 };
const plain: ModelReply = { text: 'Bern is the capital.', end: 'end', tokens };
const city = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false };
const url = { type: 'object', properties: {}, required: [], additionalProperties: false };
const tools = {
  chat: [
    { type: 'function', function: { name: 'get_weather', description: 'Weather of a city', parameters: city } },
    { type: 'function', function: { name: 'get_place', description: 'Where the user is', parameters: url } },
  ],
  messages: [
    { name: 'get_weather', description: 'Weather of a city', input_schema: city },
    { name: 'get_place', description: 'Where the user is', input_schema: url },
  ],
  responses: [
    { type: 'function', name: 'get_weather', description: 'Weather of a city', parameters: city, strict: false },
    { type: 'function', name: 'get_place', description: 'Where the user is', parameters: url, strict: false },
  ],
};
const bern = { id: 'call_a1', name: 'get_weather', arguments: { city: 'Bern' } };
const here = { id: 'call_b2', name: 'get_place', arguments: {} };
const png = 'iVBORw0KGgo=';
const pdf = 'JVBERi0xLjQ=';

/** The same user message in every format. */
function saying(text: string, more: Partial<Record<Format, JsonObject>> = {}): Scenario['asked'] {
  return {
    chat: { messages: [{ role: 'user', content: text }], ...more.chat },
    messages: { max_tokens: 300, messages: [{ role: 'user', content: text }], ...more.messages },
    responses: { input: text, store: false, ...more.responses },
  };
}

export const scenarios: readonly Scenario[] = [
  {
    name: 'text',
    asked: {
      chat: {
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'Capital of Switzerland?' },
        ],
        max_completion_tokens: 300,
        temperature: 0.5,
        stop: ['END'],
      },
      messages: {
        system: 'Be brief.',
        messages: [{ role: 'user', content: 'Capital of Switzerland?' }],
        max_tokens: 300,
        temperature: 0.5,
        stop_sequences: ['END'],
      },
      responses: {
        instructions: 'Be brief.',
        input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Capital of Switzerland?' }] }],
        max_output_tokens: 300,
        temperature: 0.5,
        store: false,
      },
    },
    reply: plain,
  },
  {
    name: 'tool',
    asked: saying('Weather in Bern?', {
      chat: { tools: tools.chat, tool_choice: 'auto' },
      messages: { tools: tools.messages, tool_choice: { type: 'auto' } },
      responses: { tools: tools.responses, tool_choice: 'auto' },
    }),
    reply: { text: 'I will look.', calls: [bern], end: 'calls', tokens },
  },
  {
    name: 'parallel-tools',
    asked: saying('Weather in Bern and here?', {
      chat: { tools: tools.chat, tool_choice: 'required' },
      messages: { tools: tools.messages, tool_choice: { type: 'any' } },
      responses: { tools: tools.responses, tool_choice: 'required' },
    }),
    reply: { calls: [bern, here], end: 'calls', tokens },
  },
  {
    name: 'one-tool-at-a-time',
    asked: saying('Weather in Bern?', {
      chat: {
        tools: tools.chat,
        tool_choice: { type: 'function', function: { name: 'get_weather' } },
        parallel_tool_calls: false,
      },
      messages: { tools: tools.messages, tool_choice: { type: 'tool', name: 'get_weather', disable_parallel_tool_use: true } },
      responses: { tools: tools.responses, tool_choice: { type: 'function', name: 'get_weather' }, parallel_tool_calls: false },
    }),
    reply: { calls: [bern], end: 'calls', tokens },
  },
  {
    name: 'tool-results',
    asked: {
      chat: {
        tools: tools.chat,
        messages: [
          { role: 'user', content: 'Weather in Bern and here?' },
          {
            role: 'assistant',
            content: 'I will look.',
            tool_calls: [bern, here].map(({ id, name, arguments: args }) => ({
              id,
              type: 'function',
              function: { name, arguments: JSON.stringify(args) },
            })),
          },
          { role: 'tool', tool_call_id: bern.id, content: 'rain' },
          { role: 'tool', tool_call_id: here.id, content: 'Zug' },
        ],
      },
      messages: {
        max_tokens: 300,
        tools: tools.messages,
        messages: [
          { role: 'user', content: 'Weather in Bern and here?' },
          {
            role: 'assistant',
            content: [
              { type: 'text', text: 'I will look.' },
              { type: 'tool_use', id: bern.id, name: bern.name, input: bern.arguments },
              { type: 'tool_use', id: here.id, name: here.name, input: here.arguments },
            ],
          },
          {
            role: 'user',
            content: [
              { type: 'tool_result', tool_use_id: bern.id, content: 'rain' },
              { type: 'tool_result', tool_use_id: here.id, content: [{ type: 'text', text: 'Zug' }] },
            ],
          },
        ],
      },
      responses: {
        store: false,
        tools: tools.responses,
        input: [
          { role: 'user', content: 'Weather in Bern and here?' },
          {
            id: 'msg_1',
            type: 'message',
            role: 'assistant',
            status: 'completed',
            content: [{ type: 'output_text', text: 'I will look.', annotations: [] }],
          },
          { type: 'function_call', call_id: bern.id, name: bern.name, arguments: JSON.stringify(bern.arguments) },
          { type: 'function_call', call_id: here.id, name: here.name, arguments: '{}' },
          { type: 'function_call_output', call_id: bern.id, output: 'rain' },
          { type: 'function_call_output', call_id: here.id, output: [{ type: 'input_text', text: 'Zug' }] },
        ],
      },
    },
    reply: plain,
  },
  {
    name: 'image-data',
    asked: {
      chat: {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'What is this?' },
              { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
            ],
          },
        ],
      },
      messages: {
        max_tokens: 300,
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'What is this?' },
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
            ],
          },
        ],
      },
      responses: {
        store: false,
        input: [
          {
            role: 'user',
            content: [
              { type: 'input_text', text: 'What is this?' },
              { type: 'input_image', image_url: `data:image/png;base64,${png}`, detail: 'auto' },
            ],
          },
        ],
      },
    },
    reply: plain,
  },
  {
    name: 'image-url',
    asked: {
      chat: {
        messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }] }],
      },
      messages: {
        max_tokens: 300,
        messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }] }],
      },
      responses: {
        store: false,
        input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'https://example.com/a.png' }] }],
      },
    },
    reply: plain,
  },
  {
    name: 'file',
    asked: {
      chat: {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'Sum it up.' },
              { type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${pdf}` } },
            ],
          },
        ],
      },
      messages: {
        max_tokens: 300,
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'Sum it up.' },
              { type: 'document', title: 'a.pdf', source: { type: 'base64', media_type: 'application/pdf', data: pdf } },
            ],
          },
        ],
      },
      responses: {
        store: false,
        input: [
          {
            role: 'user',
            content: [
              { type: 'input_text', text: 'Sum it up.' },
              { type: 'input_file', filename: 'a.pdf', file_data: `data:application/pdf;base64,${pdf}` },
            ],
          },
        ],
      },
    },
    reply: plain,
  },
  {
    name: 'schema',
    asked: saying('Capital of Switzerland?', {
      chat: { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: city, strict: true } } },
      messages: { output_config: { format: { type: 'json_schema', schema: city } } },
      responses: { text: { format: { type: 'json_schema', name: 'answer', schema: city, strict: true } } },
    }),
    reply: { text: '{"city":"Bern"}', end: 'end', tokens },
  },
  {
    name: 'reasoning',
    asked: saying('Weather in Bern?', {
      chat: { tools: tools.chat, reasoning_effort: 'high', max_completion_tokens: 20_000 },
      messages: { tools: tools.messages, output_config: { effort: 'high' }, max_tokens: 20_000 },
      responses: { tools: tools.responses, reasoning: { effort: 'high', summary: 'auto' }, max_output_tokens: 20_000 },
    }),
    reply: {
      thoughts: [{ text: 'The user wants the weather.', signature: 'c2lnbmVkLWJ5LW1vZGVs' }],
      sealed: 'c2VhbGVkLXRob3VnaHQ=',
      text: 'I will look.',
      calls: [bern, here],
      end: 'calls',
      tokens: { input: 20, cached: 8, output: 40, thought: 25 },
    },
  },
  { name: 'ends-length', asked: saying('Go on.'), reply: { text: 'Once upon', end: 'length', tokens } },
  { name: 'ends-filter', asked: saying('Go on.'), reply: { text: 'Once', end: 'filter', tokens } },
  { name: 'ends-stop-sequence', asked: saying('Go on.'), reply: { text: 'Once', end: 'stop-sequence', tokens } },
];
