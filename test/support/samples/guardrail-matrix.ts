import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { chatReply, chatStream, type Script } from '../../../core/test-kit/pipeline-harness.ts';
import { messagesReply, messagesStream, responsesReply, responsesStream } from '../../../core/test-kit/provider-scripts.ts';

/**
 * Route × provider × stream mode × verdict × deny × sync or async × source × fallback, each row with a request through the whole pipeline.
 * The expectation of a row is computed from its columns alone.
 */
export interface Route {
  readonly name: string;
  readonly path: string;
  readonly provider: string;
  readonly body: JsonObject;
  readonly plain: (text: string) => JsonObject;
  readonly stream: (words: readonly string[]) => Script;
}

const messages = [{ role: 'user', content: 'hello' }];
export const routes: readonly Route[] = [
  { name: 'chat', path: '/v1/chat/completions', provider: '@one', body: { messages }, plain: chatReply, stream: chatStream },
  {
    name: 'chat of claude',
    path: '/v1/chat/completions',
    provider: '@claude',
    body: { messages },
    plain: messagesReply,
    stream: messagesStream,
  },
  {
    name: 'messages',
    path: '/v1/messages',
    provider: '@claude',
    body: { messages, max_tokens: 9 },
    plain: messagesReply,
    stream: messagesStream,
  },
  {
    name: 'messages of openai',
    path: '/v1/messages',
    provider: '@one',
    body: { messages, max_tokens: 9 },
    plain: chatReply,
    stream: chatStream,
  },
  {
    name: 'responses',
    path: '/v1/responses',
    provider: '@one',
    body: { input: 'hello' },
    plain: responsesReply,
    stream: responsesStream,
  },
];

const streams = ['plain', 'observe', 'window', 'buffer'] as const;
export const sources = [
  'shorthand',
  'hook form',
  'target',
  'saved',
  'default of the organisation',
  'default of the workspace',
] as const;
const sides = ['input', 'output'] as const;

export interface Row {
  readonly route: Route;
  readonly side: (typeof sides)[number];
  readonly stream: (typeof streams)[number];
  readonly passes: boolean;
  readonly deny: boolean;
  readonly isAsync: boolean;
  readonly source: (typeof sources)[number];
  readonly hasFallback: boolean;
}

export const both = [true, false];
export const rows: Row[] = [];
for (const route of routes)
  for (const side of sides)
    for (const stream of streams)
      for (const passes of both)
        for (const deny of both)
          for (const isAsync of both)
            for (const source of sources)
              for (const hasFallback of both) {
                // Rejected configs: modes that wait for a verdict which nothing waits for.
                if (isAsync && (stream === 'window' || stream === 'buffer') && side === 'output') continue;
                rows.push({ route, side, stream, passes, deny, isAsync, source, hasFallback });
              }

/** The words of the reply are far apart, so that a window has sent the first ones before it finds the last. */
export const words = ['first words of the reply, ', 'and then some mo', 're ', 'forb', 'idden'];
const found = { input: 'hello', output: 'forbidden' };

export function checkOf({ side, passes }: Row): JsonObject {
  return { id: 'default.contains', parameters: { words: [passes ? 'absent' : found[side]], operator: 'none' } };
}

export function actionsOf({ side, stream, deny, isAsync }: Row): JsonObject {
  return { deny, async: isAsync, ...(side === 'output' && stream !== 'plain' ? { stream } : {}) };
}

function ownOf(row: Row): JsonObject {
  const { side, source } = row;
  const { id, parameters } = checkOf(row);
  const actions = { ...actionsOf(row), id: 'g' };
  switch (source) {
    case 'hook form': {
      const key = side === 'input' ? 'before_request_hooks' : 'after_request_hooks';
      return { [key]: [{ checks: [{ id, parameters }], ...actions }] };
    }
    case 'saved':
      return { [`${side}_guardrails`]: ['g'] };
    case 'default of the organisation':
    case 'default of the workspace':
      return {};
    default:
      return { [`${side}_guardrails`]: [{ [String(id)]: parameters, ...actions }] };
  }
}

export function configOf(row: Row): JsonObject {
  const { route, source, hasFallback } = row;
  const own = ownOf(row);
  const first = { provider: route.provider, ...(source === 'target' ? own : {}) };
  const shared = source === 'target' ? {} : own;
  if (!hasFallback) return source === 'target' ? { strategy: { mode: 'single' }, targets: [first] } : { ...first, ...shared };
  // The second target has guardrails too unless they belong to the first one.
  return { strategy: { mode: 'fallback' }, targets: [first, { provider: route.provider }], ...shared };
}

interface Expected {
  readonly status: number;
  readonly calls: number;
  /** True if the found text may reach the client. */
  readonly leaves: boolean;
  readonly outcome: string;
}

export function expectationOf({ side, stream, passes, deny, isAsync, source, hasFallback }: Row): Expected {
  const isFailed = !passes;
  const stands = { status: 200, calls: 1, leaves: true, outcome: 'success' };
  if (!isFailed || isAsync) return stands;
  const isOfFirst = source === 'target';
  if (side === 'input') {
    if (!deny) return { ...stands, status: 246 };
    // Guardrails of one target are a reason to call the next one. Shared ones end the request.
    if (isOfFirst && hasFallback) return stands;
    return { status: 446, calls: 0, leaves: false, outcome: 'refused' };
  }
  if (stream === 'observe') return stands;
  if (stream === 'window') return deny ? { status: 200, calls: 1, leaves: false, outcome: 'cut' } : stands;
  if (!deny) return { ...stands, status: 246 };
  if (!hasFallback) return { status: 446, calls: 1, leaves: false, outcome: 'failed' };
  return isOfFirst ? { ...stands, calls: 2 } : { status: 446, calls: 2, leaves: false, outcome: 'failed' };
}

/** The text of a reply: of its deltas if it is a stream. */
export function textOf(reply: string): string {
  const deltas = [...reply.matchAll(/"(?:content|text|delta)":"((?:[^"\\]|\\.)*)"/g)].map(([, text]) => text);
  return deltas.join('');
}
