import { guardrailRoutes } from '../../../core/compose/guardrail-routes.ts';
import { guardrailOpener } from '../../../core/compose/open-sealed.ts';
import { outboundParsers } from '../../../core/compose/outbound-parsers.ts';
import type { DocumentReader } from '../../../core/contract/plugin/plugin.ts';
import { outboundCallPath } from '../../../core/contract/protocol/control-plane-calls/outbound-call.ts';
import { webhookDeliveryPath } from '../../../core/contract/protocol/control-plane-calls/webhook-delivery.ts';
import { tokenCheckPath } from '../../../core/contract/protocol/credentials/tokens.ts';
import { parseTrustedHosts } from '../../../core/contract/values/addresses/outbound-url.ts';
import { createWebhookDeliveries } from '../../../core/control-plane/deliver-webhooks.ts';
import { createOutboundCalls } from '../../../core/control-plane/make-outbound-calls.ts';
import { createTokenChecks } from '../../../core/jwt/serve-token-checks.ts';
import { startTokens } from '../../../core/jwt/start-tokens.ts';
import type { Handle } from '../../../core/pipeline/run.ts';
import { createTokenFetch } from '../../../core/pipeline/target/token-fetch.ts';
import { createTransport } from '../../../core/upstream/transport.ts';
import { createGatewayTasks } from '../../../workers/gateway-tasks.ts';
import { startEdge, uwsBinaries } from '../../support/edge/edge-server.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';
import { type Plane, startPlane } from './plane.ts';
import type { DatabaseName } from './test-database.ts';

/** The part of a gateway that a control plane calls: the real edge, the JWT verifier (with stored keys) and the guardrail checks. */
export interface PlaneGateway {
  /** Value of `GATEWAY_URL` for the control plane, which starts later. */
  readonly url: string;
  /** Serves this control plane, and verifies JWTs with its documents. */
  serve(plane: Plane): void;
  close(): Promise<void>;
}

/** Starts a control plane with such a gateway; `close` stops both. */
export async function startPlaneWithGateway(
  database: DatabaseName,
  env: Readonly<Record<string, string>> = {},
  deps: Parameters<typeof startPlane>[2] = {},
): Promise<Plane> {
  const gateway = await startPlaneGateway();
  const plane = await startPlane(database, { ...env, GATEWAY_URL: gateway.url }, deps);
  gateway.serve(plane);
  return {
    ...plane,
    async close() {
      await gateway.close();
      await plane.close();
    },
  };
}

export async function startPlaneGateway(): Promise<PlaneGateway> {
  const routes = new Map<string, Handle>();
  let stop = async () => {};
  const edge = await startEdge(uwsBinaries[0] ?? 'uws-pack', (request, sink) => {
    const route = routes.get(request.path);
    if (route) return route(request, sink);
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
      routes.set(tokenCheckPath, createTokenChecks({ tokens, clusterKey, clusterKeyText }));
      const services = {
        tasks: createGatewayTasks({ threads: 1, queueMax: 1, taskMs: 1_000, memoryMegabytes: 64, log: { warn: () => {} } }),
        fetch: () => Promise.reject(new Error('checks are not run here')),
        random: Math.random,
      };
      const transport = createTransport({ trusted: parseTrustedHosts(plane.settings.trustedCustomHosts) });
      const { parseTokenUrl, checkServiceUrl } = outboundParsers(parseTrustedHosts(plane.settings.trustedCustomHosts));
      const calls = createTokenFetch({ transport, parseUrl: parseTokenUrl, now: Date.now });
      routes.set(webhookDeliveryPath, createWebhookDeliveries(calls, clusterKeyText));
      routes.set(outboundCallPath, createOutboundCalls({ clusterKey, clusterKeyText, calls }));
      stop = async () => {
        await tokens.close();
        await transport.close();
      };
      const test = () => Promise.reject(new Error('guardrails are not run here'));
      const guardrails = { services: { ...services, checkServiceUrl }, openSecrets: guardrailOpener(clusterKey), test };
      for (const [path, handle] of guardrailRoutes(clusterKeyText, guardrails)) routes.set(path, handle);
    },
    async close() {
      await stop();
      edge.close();
    },
  };
}
