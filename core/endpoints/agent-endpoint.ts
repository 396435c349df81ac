import type { Endpoint } from '../contract/plugin/requests/endpoint.ts';
import { hasDotSegment } from './control-plane-paths.ts';

const path = /^\/agent\/([a-zA-Z0-9_-]{1,255})(\/.*)?$/;
const methods: ReadonlySet<string> = new Set(['GET', 'POST', 'DELETE']);

/** The endpoint of `/agent/{agent}` and the paths below it; null if the path below `/v1` has another form. */
export function agentEndpoint(method: string, below: string): Endpoint | 'method-not-allowed' | null {
  const found = path.exec(below);
  if (!found || hasDotSegment(below)) return null;
  if (!methods.has(method)) return 'method-not-allowed';
  const [, agent, rest = ''] = found as unknown as [string, string, string | undefined];
  return {
    name: 'agent',
    operation: null,
    routing: 'none',
    usesNoTokens: true,
    scopes: ['agents.invoke'],
    format: 'plain',
    proxyPath: '',
    pathParams: { agent, rest: rest === '/' ? '' : rest },
  };
}
