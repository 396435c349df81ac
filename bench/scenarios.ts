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

export type ScenarioName = 'plain' | 'stream' | 'pass-through' | 'cached' | 'limited';
export const scenarioNames: readonly ScenarioName[] = ['plain', 'stream', 'pass-through', 'cached', 'limited'];

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
