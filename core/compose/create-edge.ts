import type { Settings } from '../../config/settings.ts';
import { version } from '../../config/version.ts';
import type { BodyMemory } from '../contract/values/bodies/body-memory.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import { messageOf } from '../contract/values/errors/message-of.ts';
import { stackOf } from '../contract/values/errors/stack-of.ts';
import type { Log } from '../contract/values/log/log.ts';
import type { Clock } from '../contract/values/time/clock.ts';
import { errorFormatOf } from '../endpoints/match-endpoint.ts';
import type { UnreadyReason } from '../http/built-in-routes.ts';
import { createHttpServer, type HttpServer } from '../http/server.ts';
import { errorReply } from '../http/write-error.ts';
import type { PlanStore } from '../pipeline/plan/plan-store.ts';
import type { Handle } from '../pipeline/run.ts';
import type { createMetricsPeer } from '../telemetry/metrics-ipc.ts';
import type { composeMcp } from './compose-mcp.ts';
import type { internalRoutes } from './internal-routes.ts';
import { loopMarkOf } from './loop-mark.ts';
import type { measuredJournal } from './measured-journal.ts';
import { refusedRecord } from './refused-record.ts';
import type { GatewayState } from './start-state.ts';

/** States nothing about the caller's key. With a different ENCRYPTION_KEY no key can be verified. */
const wrongKey = new GatewayError('unavailable', {
  detail: 'ENCRYPTION_KEY does not match the control plane',
  retryAfterMs: 1000,
});

interface Parts {
  readonly settings: Settings;
  readonly log: Log;
  readonly clock: Clock;
  readonly memory: BodyMemory;
  readonly plans: PlanStore;
  readonly journal: ReturnType<typeof measuredJournal>;
  readonly keyCheck: GatewayState['keyCheck'];
  readonly mcp: ReturnType<typeof composeMcp>;
  readonly peer: ReturnType<typeof createMetricsPeer>;
  /** Prefixes of the gateway's headers. */
  readonly prefixes: readonly string[];
  /** Replies to the control plane by path. */
  readonly internal: ReturnType<typeof internalRoutes>;
  /** Handles all other requests. */
  readonly handle: Handle;
  unready(): readonly UnreadyReason[];
}

/** Creates the HTTP server, which does not listen yet, with the routes that bypass the pipeline. */
export function createEdge({
  settings,
  log,
  clock,
  memory,
  plans,
  journal,
  keyCheck,
  mcp,
  peer,
  ...more
}: Parts): Promise<HttpServer> {
  const { prefixes, internal, handle, unready } = more;
  return createHttpServer({
    settings,
    handle: (request, sink) => {
      const own = request.path.startsWith('/internal/') ? internal.get(request.path) : undefined;
      if (own) return own(request, sink);
      if (request.path.startsWith('/.well-known/') && mcp.replyMetadata(request, sink)) return;
      if (!keyCheck.blocks()) return handle(request, sink);
      const { status, headers, body } = errorReply(wrongKey, 'chat');
      sink.send(status, headers, body);
    },
    messageBytesMax: settings.realtimeMessageBytesMax,
    loopMark: loopMarkOf(settings.clusterKey),
    intake: memory.intake,
    refused: (error, request) => {
      const record = refusedRecord(error, request, { prefixes, clock, plans });
      journal.append(record);
      return record.traceId;
    },
    formatOf: errorFormatOf,
    builtIns: {
      version,
      unready,
      metrics: settings.metrics ? () => peer.gather() : null,
      metricsToken: settings.metricsToken,
    },
    failed: (where, error) => log.error({ where, reason: messageOf(error), stack: stackOf(error) }, 'the HTTP edge failed'),
  });
}
