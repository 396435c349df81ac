/** Requests that are sent at the same time. */
export interface Case {
  readonly name: string;
  readonly count: number;
  /** Path below `/v1`. */
  readonly path: string;
  readonly body: () => Buffer;
}

const mega = 1_000_000;
/** Providers of the scenario: one with the chat format, and two that are translated. */
const providers = ['chat', 'claude', 'gemini'] as const;

const chat = (rest: string, model = '@chat/m') =>
  Buffer.from(`{"model":"${model}","max_tokens":9,"messages":[{"role":"user","content":"hello"}],${rest}}`);
const text = 'QUJD'.repeat(7.5 * mega);
const image = 'iVBORw0KGgoA'.repeat(Math.ceil((20 * mega) / 12));
const numbers = `[${'1,'.repeat(480_000)}1]`;

const textIn = (model: string) =>
  Buffer.from(`{"model":"${model}","max_tokens":9,"messages":[{"role":"user","content":"${text}"}]}`);
const imageIn = (model: string) =>
  Buffer.from(
    `{"model":"${model}","max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":"what is this?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,${image}"}}]}]}`,
  );
const numbersIn = (model: string) =>
  chat(
    `"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{},"enum":${numbers}}}}]`,
    model,
  );

/** Bodies that are rejected, bodies within the limits for each provider and client format, and replies of the provider. */
export const cases: readonly Case[] = [
  { name: '30 MB of `{},`', count: 22, path: '/chat/completions', body: () => chat(`"x":[${'{},'.repeat(10 * mega)}{}]`) },
  {
    name: '12 MB with 10^6 keys',
    count: 22,
    path: '/chat/completions',
    body: () => chat(`"x":{${Array.from({ length: mega }, (_, i) => `"k${i}":1`).join(',')}}`),
  },
  { name: '15 MB of `[`', count: 22, path: '/chat/completions', body: () => Buffer.from('['.repeat(15 * mega)) },
  { name: '30 MB in one string, cut short', count: 22, path: '/chat/completions', body: () => textIn('@chat/m').subarray(0, -4) },
  { name: '30 MB of escaped quotes', count: 22, path: '/chat/completions', body: () => chat(`"x":"${'\\"'.repeat(15 * mega)}"`) },
  ...providers.flatMap((provider): Case[] => [
    { name: `1 MB of numbers to ${provider}`, count: 22, path: '/chat/completions', body: () => numbersIn(`@${provider}/m`) },
    { name: `30 MB in one string to ${provider}`, count: 22, path: '/chat/completions', body: () => textIn(`@${provider}/m`) },
    { name: `a 20 MB image to ${provider}`, count: 22, path: '/chat/completions', body: () => imageIn(`@${provider}/m`) },
  ]),
  ...providers.map(
    (provider): Case => ({
      name: `30 MB in one string, messages format, to ${provider}`,
      count: 22,
      path: '/messages',
      body: () => textIn(`@${provider}/m`),
    }),
  ),
  ...providers.map(
    (provider): Case => ({
      name: `30 MB in one string, responses format, to ${provider}`,
      count: 22,
      path: '/responses',
      body: () => Buffer.from(`{"model":"@${provider}/m","input":"${text}"}`),
    }),
  ),
  {
    name: 'a stream event without end from the provider',
    count: 22,
    path: '/chat/completions',
    body: () => chat('"stream":true', '@chat/endless'),
  },
  { name: 'a reply of 20 MB from the provider', count: 22, path: '/chat/completions', body: () => chat('"n":1', '@chat/large') },
  {
    name: 'a reply of 20 MB, messages format',
    count: 22,
    path: '/messages',
    body: () => chat('"temperature":0', '@chat/large'),
  },
];
