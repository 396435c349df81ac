import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import type { FakeRequest } from '../../../core/test-kit/pipeline-harness.ts';

/** A request that differs from the base request of its kind in the one aspect that `aspect` names. */
export interface Variant {
  readonly aspect: string;
  readonly request: Partial<FakeRequest>;
}

export const simple = { mode: 'simple' };
const configHeader = (config: JsonObject): Record<string, string> => ({
  'x-svc-config': JSON.stringify({ provider: '@one', cache: simple, ...config }),
});
export const base = { model: 'gpt-5', messages: [{ role: 'user', content: 'Is invoice 17 of Ada paid?' }] };
const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);

const ofBody = (aspect: string, changes: JsonObject): Variant => ({
  aspect,
  request: { headers: configHeader({}), body: { ...base, ...changes } },
});
const ofContent = (aspect: string, content: unknown): Variant => ofBody(aspect, { messages: [{ role: 'user', content }] });
const ofHeaders = (aspect: string, headers: Record<string, string>): Variant => ({
  aspect,
  request: { headers: { ...configHeader({}), ...headers }, body: base },
});
/** The target that headers name, with the provider key of the caller. */
const ofOwnTarget = (aspect: string, headers: Record<string, string>): Variant => ({
  aspect,
  request: {
    headers: {
      'x-svc-config': JSON.stringify({ cache: simple }),
      'x-svc-provider': 'openai',
      ...headers,
      authorization: 'Bearer sk-a',
    },
    body: base,
  },
});
const ofConfig = (aspect: string, config: JsonObject): Variant => ({
  aspect,
  request: { headers: configHeader(config), body: base },
});
const ofForwarding = (aspect: string, config: JsonObject, tenant: number): Variant => ({
  aspect,
  request: { headers: { ...configHeader(config), 'x-tenant': `${aspect} ${tenant}` }, body: base },
});
const twoTargets = [
  { name: 'a', provider: '@one' },
  { name: 'b', provider: '@one', override_params: { seed: 7 } },
];
const isFirst = { 'headers.X-Tenant': { $eq: '1' } };
const routed = {
  strategy: { mode: 'conditional', default: 'b', conditions: [{ query: { $or: [isFirst] }, then: 'a' }] },
  targets: twoTargets,
};
const sticky = {
  strategy: { mode: 'loadbalance', sticky: { enabled: true, hash_fields: ['headers.x-tenant'], ttl: 60 } },
  targets: twoTargets,
};
const tool = (name: string, parameters: JsonObject = {}) => ({ type: 'function', function: { name, parameters } });

const params: Readonly<Record<string, readonly unknown[]>> = {
  temperature: [0, 0.1, 0.2, 0.5, 0.7, 1, 1.5, 2],
  top_p: [0.1, 0.5, 0.9, 1],
  n: [1, 2, 3],
  max_tokens: [1, 2, 10, 100, 1_000],
  max_completion_tokens: [1, 2, 10, 100, 1_000],
  presence_penalty: [-2, -1, 0, 1, 2],
  frequency_penalty: [-2, -1, 0, 1, 2],
  seed: numbers(20),
  stop: ['a', 'b', ['a'], ['a', 'b']],
  logprobs: [true, false],
  top_logprobs: [1, 2, 3],
  user: ['u1', 'u2', 'u3'],
  service_tier: ['auto', 'default', 'flex'],
  reasoning_effort: ['low', 'medium', 'high'],
  verbosity: ['low', 'medium', 'high'],
  parallel_tool_calls: [true, false],
  tool_choice: ['auto', 'none', 'required'],
  logit_bias: [{ 1: 1 }, { 1: 2 }, { 2: 1 }],
  response_format: [{ type: 'text' }, { type: 'json_object' }],
  modalities: [['text'], ['text', 'audio']],
  prediction: [
    { type: 'content', content: 'a' },
    { type: 'content', content: 'b' },
  ],
  store: [true, false],
  metadata: [{ a: '1' }, { a: '2' }, { b: '1' }],
  unknown_parameter: [1, 2, 'x', null],
};

/** The base request, and more than a thousand that differ from it in one aspect. */
export const variants: readonly Variant[] = [
  ofBody('nothing', {}),
  ...numbers(300)
    .filter((n) => n !== 17)
    .map((n) => ofContent(`the number ${n}`, `Is invoice ${n} of Ada paid?`)),
  ...numbers(100).map((n) => ofContent(`the name of person ${n}`, `Is invoice 17 of Ada-${n} paid?`)),
  ...[
    ['a negation', 'Is invoice 17 of Ada not paid?'],
    ['the case', 'IS INVOICE 17 OF ADA PAID?'],
    ['a space at the end', 'Is invoice 17 of Ada paid? '],
    ['a space at the start', ' Is invoice 17 of Ada paid?'],
    ['a line break', 'Is invoice 17 of Ada paid?\n'],
    ['a composed letter', 'Is invoice 17 of Ad\u00e1 paid?'],
    ['a decomposed letter', 'Is invoice 17 of Ada\u0301 paid?'],
    ['a zero-width space', 'Is invoice 17 of Ada\u200b paid?'],
    ['full-width digits', 'Is invoice \uff11\uff17 of Ada paid?'],
  ].map(([aspect, content]) => ofContent(aspect as string, content)),
  ofContent('the content as one part', [{ type: 'text', text: 'Is invoice 17 of Ada paid?' }]),
  ...numbers(20).map((n) => ofContent(`image ${n}`, [{ type: 'image_url', image_url: { url: `https://example.com/${n}.png` } }])),
  ...['system', 'developer'].flatMap((role) =>
    numbers(40).map((n) => ofBody(`${role} text ${n}`, { messages: [{ role, content: `Rule ${n}` }, ...base.messages] })),
  ),
  ofBody('a repeated message', { messages: [...base.messages, ...base.messages] }),
  ofBody('the role', { messages: [{ role: 'assistant', content: 'Is invoice 17 of Ada paid?' }] }),
  ...numbers(80).map((n) => ofBody(`model ${n}`, { model: `gpt-5-${n}` })),
  ...numbers(40).map((n) => ofBody(`tool ${n}`, { tools: [tool(`lookup_${n}`)] })),
  ...numbers(20).map((n) => ofBody(`tool parameter ${n}`, { tools: [tool('lookup', { [`p${n}`]: { type: 'string' } })] })),
  ofBody('the order of tools', { tools: [tool('a'), tool('b')] }),
  ofBody('the other order of tools', { tools: [tool('b'), tool('a')] }),
  ...numbers(20).map((n) =>
    ofBody(`JSON Schema ${n}`, { response_format: { type: 'json_schema', json_schema: { name: `s${n}`, schema: {} } } }),
  ),
  ...Object.entries(params).flatMap(([name, values]) =>
    values.map((value) => ofBody(`${name} ${JSON.stringify(value)}`, { [name]: value })),
  ),
  ...numbers(50).map((n) => ofHeaders(`metadata ${n}`, { 'x-svc-metadata': JSON.stringify({ team: String(n) }) })),
  ofHeaders('the name of metadata', { 'x-svc-metadata': '{"group":"1"}' }),
  ...numbers(50).map((n) => ofHeaders(`namespace ${n}`, { 'x-svc-cache-namespace': `n${n}` })),
  ...numbers(10).map((n) => ofHeaders(`openai-beta ${n}`, { 'openai-beta': `feature-${n}` })),
  ...numbers(10).map((n) => ofHeaders(`anthropic-beta ${n}`, { 'anthropic-beta': `feature-${n}` })),
  ...numbers(30).map((n) => ofConfig(`override ${n}`, { override_params: { seed: 1_000 + n } })),
  ofConfig('the stored provider', { provider: '@two' }),
  ofConfig('another format', { provider: '@claude', override_params: { max_tokens: 5 } }),
  ...numbers(20).map((n) =>
    ofConfig(`custom host ${n}`, { provider: 'openai', api_key: 'sk-a', custom_host: `https://h${n}.example/v1` }),
  ),
  ...numbers(5).map((n) => ofOwnTarget(`custom host ${n} of the request`, { 'x-svc-custom-host': `https://h${n}.example/v1` })),
  ...['true', 'false'].map((strict) => ofOwnTarget(`strict ${strict}`, { 'x-svc-strict-open-ai-compliance': strict })),
  ...numbers(40).map((n) => ({
    aspect: `the caller's own provider key ${n}`,
    request: { headers: { ...configHeader({ provider: 'openai' }), authorization: `Bearer sk-${n}` }, body: base },
  })),
  ...numbers(10).map((n) => ({
    aspect: `query ${n}`,
    request: { path: `/v1/chat/completions?beta=${n}`, headers: configHeader({}), body: base },
  })),
  ...['/v1/completions', '/v1/embeddings', '/v1/responses', '/v1/messages'].map((path) => ({
    aspect: `route ${path}`,
    request: { path, headers: configHeader({}), body: { ...base, prompt: 'p', input: 'i', max_tokens: 5 } },
  })),
  ...numbers(20).map((n) => ({
    aspect: `pass-through path ${n}`,
    request: { path: `/v1/proxy/x-${n}/completions`, headers: configHeader({}), body: base },
  })),
  ...numbers(10).map((n) => ({
    aspect: `forwarded header ${n}`,
    request: { path: '/v1/proxy/x/completions', headers: { ...configHeader({}), 'x-tenant': String(n) }, body: base },
  })),
  ...numbers(5).flatMap((n) => [
    ofForwarding(`header ${n} that the config forwards`, { forward_headers: ['X-Tenant'] }, n),
    ofForwarding(`header ${n} that a target forwards`, { targets: [{ provider: '@one', forward_headers: ['x-tenant'] }] }, n),
    ofForwarding(`header ${n} that a condition reads`, routed, n),
    ofForwarding(`header ${n} that a sticky session reads`, sticky, n),
  ]),
];
