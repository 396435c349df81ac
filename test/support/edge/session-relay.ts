/**
 * A child process of the session tests: edge, transport and sessions of the gateway only, so that its memory is that of sessions.
 * Arguments: the addon, the provider's origin. Prints its port, and `bye` when it receives the request to stop.
 */

import type { RequestContext } from '../../../core/contract/plugin/context.ts';
import { parseTrustedHosts } from '../../../core/contract/values/addresses/outbound-url.ts';
import { realClock } from '../../../core/contract/values/time/clock.ts';
import { createSessions } from '../../../core/realtime/sessions.ts';
import { createTransport } from '../../../core/upstream/transport.ts';
import { startEdge } from './edge-server.ts';

const [, , binary, origin = ''] = process.argv;
const transport = createTransport({ trusted: parseTrustedHosts(['127.0.0.1']) });
const sessions = createSessions({
  sessionsMax: 100,
  ownerMax: { organisation: 0, workspace: 0, key: 0 },
  idleMs: 0,
  totalMs: 0,
  recordMs: 0,
  jsonValuesMax: 500_000,
  messageBytesMax: 16 * 1024 * 1024,
  clock: realClock,
});
const timeouts = { connectMs: 5000, firstByteMs: 5000, idleMs: 0, totalMs: 0 };

const edge = await startEdge(binary as 'uwsjs' | 'uws-pack', (request, sink) => {
  const slot = sessions.reserve({ organisationId: 'o', workspaceId: 'w', keyId: 'k' });
  const call = {
    tenant: 'a',
    origin,
    path: request.path,
    method: 'GET',
    headers: [],
    body: null,
    timeouts,
    webSocket: { protocols: [] },
  };
  transport.send(call, {
    onHead: () => {},
    onData: () => true,
    onEnd: () => {},
    onError: (error) => {
      slot.release();
      sink.send(error.status, [], error.code);
    },
    onWebSocket(_headers, provider) {
      const client = sink.acceptWebSocket?.([], null) ?? null;
      if (client === null) {
        slot.release();
        return provider.terminate();
      }
      const ctx = { plan: { onChunk: [] } } as unknown as RequestContext;
      slot.start({
        ctx,
        client,
        provider,
        readUsage: null,
        firstMessage: null,
        readsBinary: false,
        isEstimated: false,
        inspect: null,
        counted: () => null,
        looked: () => null,
        checkpoint: () => {},
        end(outcome, recorded) {
          process.stdout.write(`${JSON.stringify({ ...outcome, error: outcome.error?.message, session: ctx.session })}\n`);
          recorded();
        },
      });
    },
  });
});
process.on('SIGTERM', () => process.exit(0));
process.stdout.write(`${edge.port}\n`);
