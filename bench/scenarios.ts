/** The requests of a client in one measurement. */
export interface Scenario {
  readonly name: ScenarioName;
  readonly title: string;
  /** Below the base URL, which ends in `/v1`. */
  readonly path: string;
  readonly body: string;
  readonly contentType: string;
  /** Bytes of a correct reply: `{least, most}`. Other sizes show that the contender does not do what is measured. */
  readonly replyBytes: { readonly least: number; readonly most: number };
}

export const scenarioNames = [
  'plain',
  'stream',
  'long-stream',
  'conversation',
  'responses',
  'vectors',
  'pass-through',
  'cached',
  'limited',
] as const;
export type ScenarioName = (typeof scenarioNames)[number];

/** The scenarios, with plain bodies and replies of about `bytes`. */
export function listScenarios(bytes: number): readonly Scenario[] {
  const chat = (model: string, stream: boolean) => chatBody(model, stream, bytes);
  const plainReply = { least: bytes * 0.9, most: bytes * 1.3 + 400 };
  return [
    {
      name: 'plain',
      title: `chat completion, ${bytes} B in, ${bytes} B out`,
      path: '/chat/completions',
      body: chat(`bench-r${bytes}`, false),
      contentType: 'application/json',
      replyBytes: plainReply,
    },
    {
      name: 'stream',
      title: 'streamed chat completion, 32 frames at once',
      path: '/chat/completions',
      body: chat('bench-s32x0', true),
      contentType: 'application/json',
      replyBytes: { least: 32 * 150, most: 32 * 800 },
    },
    {
      name: 'long-stream',
      title: 'streamed chat completion whose client requests no token counts, 500 frames at once',
      path: '/chat/completions',
      body: chat('bench-s500x0', true).replace(',"stream_options":{"include_usage":true}', ''),
      contentType: 'application/json',
      replyBytes: { least: 500 * 150, most: 500 * 800 },
    },
    {
      name: 'conversation',
      title: 'streamed turn of a coding agent: 100 KB of messages and tools, 32 frames at once',
      path: '/chat/completions',
      body: agentBody('bench-s32x0', 100_000),
      contentType: 'application/json',
      replyBytes: { least: 32 * 150, most: 32 * 800 },
    },
    {
      name: 'responses',
      title: 'the same turn over the Responses API, whose first two events and last one repeat instructions and tools',
      path: '/responses',
      body: agentResponse('bench-s32x0', 100_000),
      contentType: 'application/json',
      replyBytes: { least: 60_000, most: 120_000 },
    },
    {
      name: 'vectors',
      title: 'embeddings: 100 texts, vectors of 1,536 numbers, 2 MB out',
      path: '/embeddings',
      body: JSON.stringify({ model: 'bench-v100x1536', input: Array.from({ length: 100 }, () => 'lorem ipsum '.repeat(8)) }),
      contentType: 'application/json',
      replyBytes: { least: 1_800_000, most: 2_300_000 },
    },
    {
      name: 'pass-through',
      title: `pass-through of ${bytes} B each way`,
      path: '/bench/bytes',
      // Has a JSON content type, because the npm peer rejects binary types. A proxy need not parse it.
      body: JSON.stringify({ bytes: 'b'.repeat(bytes - 12) }),
      contentType: 'application/json',
      replyBytes: { least: bytes, most: bytes },
    },
    {
      name: 'cached',
      title: `chat completion from the simple cache, ${bytes} B out`,
      path: '/chat/completions',
      body: chat(`bench-r${bytes}`, false),
      contentType: 'application/json',
      replyBytes: plainReply,
    },
    {
      name: 'limited',
      title: 'the plain one under a rate limit and a budget, where there are such',
      path: '/chat/completions',
      body: chat(`bench-r${bytes}`, false),
      contentType: 'application/json',
      replyBytes: plainReply,
    },
  ];
}

/** Returns a chat request of about `bytes` for a model of the fake upstream. */
export function chatBody(model: string, stream: boolean, bytes: number): string {
  const withText = (content: string) =>
    JSON.stringify({
      model,
      messages: [
        { role: 'system', content: 'You are a helpful assistant.' },
        { role: 'user', content },
      ],
      temperature: 0.7,
      max_tokens: 256,
      ...(stream ? { stream: true, stream_options: { include_usage: true } } : {}),
    });
  return withText('lorem ipsum '.repeat(bytes / 12 + 1).slice(0, Math.max(1, bytes - withText('').length)));
}

/** Returns the streamed request of a coding agent, of about `bytes`: 20 tools, and turns with the text of files. Its stream asks for no usage. */
export function agentBody(model: string, bytes: number): string {
  const file = 'export function add(a: number, b: number): number {\n\treturn a + b; // "sum"\n}\n\n'.repeat(30);
  const fields = Array.from({ length: 8 }, (_, i) => [`field_${i}`, { type: 'string', description: `Field ${i} of the tool` }]);
  const parameters = { type: 'object', properties: Object.fromEntries(fields), required: ['field_0'] };
  const tools = Array.from({ length: 20 }, (_, i) => ({
    type: 'function',
    function: { name: `tool_${i}`, description: 'Reads a part of a file and returns its lines.', parameters },
  }));
  const messages: object[] = [{ role: 'system', content: `You edit files.\n${file}` }];
  const body = { model, messages, tools, stream: true };
  for (let length = JSON.stringify(body).length, turn = 0; length < bytes; turn++) {
    const call = {
      id: `call_${turn}`,
      type: 'function',
      function: { name: 'tool_0', arguments: `{"field_0":"src/${turn}.ts"}` },
    };
    const added = [
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: call.id, content: file },
    ];
    messages.push(...added);
    length += JSON.stringify(added).length;
  }
  return JSON.stringify(body);
}

/** Returns the request of `agentBody` in the form of the Responses API. */
function agentResponse(model: string, bytes: number): string {
  const { messages, tools } = JSON.parse(agentBody(model, bytes)) as AgentBody;
  const [system, ...turns] = messages;
  const input = turns.map(({ content, tool_call_id: id, tool_calls: [call] = [] }) =>
    call
      ? { type: 'function_call', call_id: call.id, ...call.function }
      : { type: 'function_call_output', call_id: id, output: content },
  );
  const instructions = `${system?.content ?? ''}\n`.repeat(4);
  return JSON.stringify({
    ...{ model, stream: true, store: false, instructions, input },
    tools: tools.map((tool) => ({ type: 'function', ...tool.function })),
  });
}

/** The members of `agentBody` that `agentResponse` reads. */
interface AgentBody {
  readonly messages: readonly {
    readonly content: string | null;
    readonly tool_call_id?: string;
    readonly tool_calls?: readonly { readonly id: string; readonly function: object }[];
  }[];
  readonly tools: readonly { readonly function: object }[];
}
