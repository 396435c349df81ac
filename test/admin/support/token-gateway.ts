import type { DocumentReader } from '../../../core/contract/plugin/plugin.ts';
import { tokenCheckPath } from '../../../core/contract/protocol/tokens.ts';
import { createTokenChecks } from '../../../core/jwt/serve-token-checks.ts';
import { startTokens } from '../../../core/jwt/start-tokens.ts';
import { startEdge, uwsBinaries } from '../../support/edge-server.ts';
import { newMemoryLog } from '../../support/memory-log.ts';
import type { Plane } from './plane.ts';

/** As much of a gateway as verifies tokens for a control plane: the true edge and verifier, with keys that are stored. */
export interface TokenGateway {
  /** For `GATEWAY_URL` of the control plane, which starts after it. */
  readonly url: string;
  /** Verifies by what this control plane knows. */
  serve(plane: Plane): void;
  close(): Promise<void>;
}

export async function startTokenGateway(): Promise<TokenGateway> {
  let check: ReturnType<typeof createTokenChecks> | null = null;
  let stop = async () => {};
  const edge = await startEdge(uwsBinaries[0] ?? 'uws-pack', (request, sink) => {
    if (check && request.path === tokenCheckPath) return check(request, sink);
    sink.send(404, [], 'no such route');
  });
  return {
    url: `http://127.0.0.1:${edge.port}`,
    serve(plane) {
      const documents: DocumentReader = {
        async get(kind, id) {
          return (await plane.internal('GET', `/documents/${kind}/${encodeURIComponent(id)}`)).body.document;
        },
      };
      const { clusterKey, clusterKeyText } = plane.settings;
      const tokens = startTokens({
        documents,
        fetchKeySet: () => Promise.reject(new Error('keys are stored here')),
        async fetch(method, path, body) {
          const headers = { authorization: `Bearer ${clusterKeyText}`, 'content-type': 'application/json' };
          const reply = await fetch(`${plane.url}${path}`, { method, headers, body: body && Buffer.from(body) });
          return { status: reply.status, body: new Uint8Array(await reply.arrayBuffer()) };
        },
        clock: plane.control.services.clock,
        log: newMemoryLog(),
      });
      stop = () => tokens.close();
      check = createTokenChecks({ tokens, clusterKey, clusterKeyText });
    },
    async close() {
      await stop();
      edge.close();
    },
  };
}
