import type { Endpoint } from '../contract/context.ts';
import { chatCompletions } from './chat-completions.ts';
import { completions } from './completions.ts';
import { isControlPlanePath } from './control-plane.ts';
import { embeddings } from './embeddings.ts';
import { messages, messagesCountTokens } from './messages.ts';
import { proxyEndpoint } from './proxy.ts';
import { responses } from './responses.ts';

/** The shaped routes. Adding one is adding a line here. */
const routes = [chatCompletions, completions, embeddings, messages, messagesCountTokens, responses];

const table: ReadonlyMap<string, Endpoint> = new Map(
  routes.map((route) => [
    `${route.method} /v1${route.path}`,
    { name: route.operation, operation: route.operation, scopes: ['completions.write'], format: route.format, proxyPath: '' },
  ]),
);

/** What a path means: an endpoint of the data plane, the control plane, or nothing (404, 405). */
export type Match = Endpoint | 'control-plane' | 'not-found' | 'method-not-allowed';

export function matchEndpoint(method: string, path: string): Match {
  const known = table.get(`${method} ${path}`);
  if (known) return known;
  if (isControlPlanePath(path)) return 'control-plane';
  if (!path.startsWith('/v1/')) return 'not-found';
  return proxyEndpoint(method, path.slice('/v1'.length)) ?? 'method-not-allowed';
}
