import type {
  DeploymentProbe,
  ModelList,
  Realtime,
  SignServices,
  StepRequest,
  StepResponse,
  StreamDecoding,
  ProviderAdapter as TypedAdapter,
  UsageUnit,
} from 'svc-gateway/provider-adapter';
import { describe, expect, it } from 'vitest';
import type { RequestContext } from '../../../core/contract/plugin/context.ts';
import type { Target } from '../../../core/contract/plugin/plan.ts';
import type { Operation, OperationCall, ProviderAdapter } from '../../../core/contract/provider/provider.ts';
import { GatewayError } from '../../../core/contract/values/errors/errors.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { emptyUsage } from '../../../core/contract/values/models/usage.ts';
import { type OutgoingOptions, shapedCall } from '../../../core/pipeline/attempt/outgoing-call.ts';
import type { ResolvedTarget } from '../../../core/pipeline/target/resolve-target.ts';
import { guardAdapter } from '../../../core/provider-host/guard-adapter.ts';
import { withAdapters } from '../../../core/providers/index.ts';
import { callOf } from '../providers/contract-suite.ts';

function adapterOf(chat: object, more: object = {}): ProviderAdapter {
  const operation = { path: () => '/chat', usage: () => null, streamReader: () => readerOf(null), ...chat } as Operation;
  return {
    ...{ id: 'acme-ai', baseUrl: () => 'https://acme.example', headers: () => [], error: () => null },
    ...{ operations: { chatComplete: operation }, ...more },
  } as unknown as ProviderAdapter;
}

const readerOf = (usage: unknown) => ({ push: () => {}, usage: () => usage, complete: () => true });
/** The functions of an adapter that read usage. */
const usageOf = (usage: unknown) => {
  const members = { usage: () => usage, streamReader: () => readerOf(usage), usageOfCall: () => usage };
  const chosen = adapterOf(members).operations.chatComplete;
  const realtime = { path: () => '/realtime', usage: () => usage };
  const adapter = guardAdapter(adapterOf({ ...members, ofCall: () => chosen }, { realtime }));
  const chat = adapter.operations.chatComplete as Operation;
  return [
    ...[chat, chat.ofCall?.(call) as Operation].flatMap((operation) => [
      () => operation.usage({}),
      () => operation.usageOfCall?.(call),
      () => operation.streamReader().usage(),
    ]),
    () => adapter.realtime?.usage({}),
  ];
};
const call = callOf({}, {}, {});

// `npm run types` fails if the package does not export a type that an adapter needs.
type OfHelpers = [DeploymentProbe, Realtime, SignServices, StepRequest, StepResponse, UsageUnit];
const typed: Pick<TypedAdapter, 'customTools' | 'models'> & { readonly helpers?: OfHelpers } = {
  customTools: true,
  models: { path: () => '/list', read: () => ({ models: [] }) } satisfies ModelList,
};
const decoding: StreamDecoding = { contentType: 'application/x-ndjson', create: () => ({ push: () => [], end: () => [] }) };

describe('the adapter of a third-party provider', () => {
  it.each([
    ['a GatewayError', new GatewayError('upstream_status', { status: 429 }), { code: 'upstream_status', status: 429 }],
    [
      'another object',
      { message: 'slow down' },
      {
        code: 'upstream_invalid',
        detail:
          'PROVIDERS: the adapter of acme-ai: operations.chatComplete.streamReader.error: got object, expected a GatewayError or null',
      },
    ],
    ['no error', undefined, null],
  ])('ends a stream with an error if its reader reports %s', (_, reported, expected) => {
    const streamReader = () => ({ ...readerOf(null), error: () => reported });
    const error = guardAdapter(adapterOf({ streamReader })).operations.chatComplete?.streamReader().error?.();
    expect(error instanceof GatewayError ? { ...error } : error).toEqual(expected && expect.objectContaining(expected));
  });

  it.each([
    ['without a function', adapterOf({}, { headers: undefined }), 'the adapter of acme-ai: headers: expected a function'],
    ['without operations', adapterOf({}, { operations: undefined }), 'operations: expected an object'],
    ['with a misspelt operation', adapterOf({}, { operations: { chat: {} } }), 'operations.chat: unknown operation'],
    [
      'with a misspelt source of models',
      adapterOf({}, { modelSources: { inpath: () => 'm' } }),
      'modelSources.inpath: unknown member',
    ],
    [
      'with a source of models of another type',
      adapterOf({}, { modelSources: { headers: 'x-model' } }),
      'modelSources.headers: expected a list',
    ],
    ['with an incomplete operation', adapterOf({ usage: undefined }), 'operations.chatComplete.usage: expected a function'],
    [
      'with an operation that is an instance of a class',
      adapterOf({}, { operations: { chatComplete: Object.create(adapterOf({}).operations.chatComplete as object) } }),
      'operations.chatComplete.path: expected a function',
    ],
  ])('%s is rejected with the name of the member', (_, adapter, message) => {
    expect(() => guardAdapter(adapter)).toThrow(`PROVIDERS: the adapter of acme-ai: ${message.replace(/^the .*?: /, '')}`);
  });

  it('keeps members that not every provider has', () => {
    const guarded = guardAdapter(adapterOf({ decodeStream: decoding }, typed));
    expect(guarded).toMatchObject(typed);
    expect(guarded.operations.chatComplete?.decodeStream).toBe(decoding);
  });

  it.each([null, emptyUsage(), { ...emptyUsage(), outputTokens: 5, units: { pages: 2.5 } }])('may read the usage %j', (usage) => {
    for (const read of usageOf(usage)) expect(read()).toEqual(usage);
  });

  it.each([
    [{ input: 1 }, 'usage: expected null, or emptyUsage() with counts'],
    [{ ...emptyUsage(), inputTokens: Number.NaN }, 'usage.inputTokens: got NaN, expected a number of at least 0'],
    [{ ...emptyUsage(), outputTokens: '5' }, 'usage.outputTokens: got string'],
    [{ ...emptyUsage(), units: { pages: -1 } }, 'usage.units.pages: got -1'],
    [{ ...emptyUsage(), units: { sheets: 1 } }, 'usage.units.sheets: unknown unit, expected one of generated_images'],
    [{ ...emptyUsage(), serviceTier: 5 }, 'usage.serviceTier: got 5, expected a string or null'],
    [{ ...emptyUsage(), estimated: undefined }, 'usage.estimated: got undefined, expected true or false'],
    [{ ...emptyUsage(), raw: 'text' }, 'usage.raw: got string, expected an object or null'],
  ])('cannot read the usage %j', (usage, message) => {
    for (const read of usageOf(usage)) expect(read).toThrow(message);
  });

  it('has whole tokens, and no count above what one call can use', () => {
    const usage = { ...emptyUsage(), inputTokens: 1.6, outputTokens: 1e300, units: { pages: 1e300 } };
    for (const read of usageOf(usage)) {
      expect(read()).toMatchObject({ inputTokens: 2, outputTokens: 1e11, units: { pages: 1e11 } });
    }
  });

  it.each([
    ['a promise', async () => ({})],
    ['undefined', () => undefined],
    ['null', () => null],
    ['string', () => 'text'],
  ])('cannot make %s a body', (found, make) => {
    const { chatComplete } = guardAdapter(adapterOf({ toProvider: make, fromProvider: make })).operations;
    for (const member of ['toProvider', 'fromProvider'] as const) {
      const issue = `PROVIDERS: the adapter of acme-ai: operations.chatComplete.${member}: got ${found}, expected an object`;
      expect(() => chatComplete?.[member]?.({}, call)).toThrow(issue);
    }
  });

  it('may leave an operation as it is for a call', () => {
    const { chatComplete } = guardAdapter(adapterOf({ ofCall: () => undefined })).operations;
    expect(chatComplete?.ofCall?.(call)).toBeUndefined();
  });
});

const change = ({ messages }: JsonObject): void => {
  (messages as JsonObject[])[0] = { role: 'user', content: 'changed' };
};
const withOne = (params: JsonObject): JsonObject => ({ ...params, n: 1 });

it.each<[member: string, chat: object]>([
  ['toProvider', { toProvider: (params: JsonObject) => [withOne(params), change(params)][0] }],
  ['toContent', { toProvider: withOne, toContent: (params: JsonObject) => change(params) ?? null }],
  [
    'ofCall',
    { ofCall: ({ params }: OperationCall) => [adapterOf({ toProvider: withOne }).operations.chatComplete, change(params)][0] },
  ],
])(
  'a request of which %s of an adapter has changed values in place is sent with them, at this target and the next',
  (_member, chat) => {
    const adapter = guardAdapter(adapterOf(chat));
    const text = '{"model":"m","messages":[{"role":"user","content":"given"}]}';
    const params = JSON.parse(text);
    const ctx = {
      endpoint: { operation: 'chatComplete', method: 'POST', body: 'json' },
      request: { method: 'POST', path: '/v1/chat/completions', header: () => undefined },
      ...{
        gatewayHeaders: new Map(),
        identity: null,
        keyHeader: null,
        token: null,
        params,
        body: Buffer.from(text),
        bodyChanged: false,
      },
      ...{ bodyLayout: { bytes: Buffer.from(text), parsed: params, ranges: [1, 9, 12, 13, 24, text.length - 1] } },
      ...{ requestBytes: text.length, form: null, streamedForm: null, requestTarget: null, metadata: {}, query: '' },
    } as unknown as RequestContext;
    const target = {
      adapter,
      settings: {},
      headers: [],
      origin: 'https://acme.example',
      basePath: '',
    } as unknown as ResolvedTarget;
    const options = { prefixes: ['x-svc-'], defaultMarkers: [], timeouts: {}, now: Date.now } as unknown as OutgoingOptions;
    const next = { ...target, adapter: adapterOf({ toProvider: withOne }) };
    for (const each of [target, next]) {
      const { call: sent } = shapedCall(ctx, {} as Target, each, options);
      expect(String(sent.body)).toBe('{"model":"m","messages":[{"role":"user","content":"changed"}],"n":1}');
    }
  },
);

it('operations over the chat completions of an adapter are taken to change values in place too', () => {
  const { operations } = withAdapters(guardAdapter(adapterOf({ toProvider: withOne })));
  for (const name of ['chatComplete', 'messages', 'createModelResponse'] as const)
    expect([name, operations[name]?.changesInPlace]).toEqual([name, true]);
});
