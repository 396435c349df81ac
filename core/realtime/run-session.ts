import type { RequestContext } from '../contract/plugin/context.ts';
import type { CoreServices } from '../contract/plugin/core-plugin.ts';
import { sessionTraffic } from '../contract/plugin/requests/passed-traffic.ts';
import type { SessionOutcome, SessionStart, Sessions } from '../contract/plugin/sessions/web-socket.ts';
import { GatewayError, reasonOf } from '../contract/values/errors/errors.ts';
import type { HeaderList, ReplySink } from '../contract/values/http/http.ts';
import { isPromise } from '../contract/values/maybe.ts';
import { addGatewayHeaders } from '../pipeline/attempt/reply-headers.ts';
import { chosenProtocol } from '../pipeline/attempt/socket-protocols.ts';
import type { AttemptReply, UpgradedReply } from '../pipeline/attempt-reply.ts';
import { type Dispatcher, dispatch } from '../pipeline/dispatch.ts';
import { firstError } from '../pipeline/session-verdict.ts';
import { checkModels } from './check-models.ts';
import { providerError } from './provider-error.ts';
import { modelReader, sessionReader } from './session-events.ts';

export interface SessionOptions {
  readonly dispatcher: Dispatcher;
  readonly services: CoreServices;
  /** Absent: sessions are not supported. */
  readonly sessions?: Sessions;
}

/**
 * Finds a provider that replies 101, upgrades the client, and starts the session. Until then the request is an ordinary one: it
 * may be rejected, retried or sent to another target. Returns null if the session has begun or the client has disconnected, else
 * the reply.
 */
export async function runSession(
  options: SessionOptions,
  ctx: RequestContext,
  sink: ReplySink,
  end: (outcome: SessionOutcome) => void,
): Promise<AttemptReply | null> {
  if (!ctx.request.webSocketProtocols) throw new GatewayError('upgrade_required');
  const { sessions, services } = options;
  if (!sessions || !sink.acceptWebSocket) throw new GatewayError('internal', { detail: 'no handler for WebSocket sessions' });
  ctx.stream = true;
  const slot = sessions.reserve(ctx.identity ?? nobody);
  let started = false;
  try {
    const attemptReply = await dispatch(ctx, sink, options.dispatcher);
    if (attemptReply.kind !== 'upgraded') return attemptReply;
    const provider = attemptReply.socket;
    const head = { status: attemptReply.status, headers: headOf(ctx, attemptReply) };
    for (const hook of ctx.plan.onReply) {
      const outcome = hook(ctx, head);
      const reply = isPromise(outcome) ? await outcome : outcome;
      if (!reply) continue;
      provider.terminate();
      return { kind: 'replaced', reply };
    }
    const client = sink.acceptWebSocket(head.headers, chosenProtocol(ctx.request.webSocketProtocols, attemptReply.protocol));
    if (client === null) {
      provider.terminate();
      return null;
    }
    ctx.firstByteAtMs = services.clock.elapsed();
    started = true;
    slot.start({
      ctx,
      client,
      provider,
      readUsage: sessionReader(ctx, attemptReply.adapter.realtime?.usage ?? null, options.dispatcher.passedUsage),
      ...(ctx.model === null ? { readModel: modelReader(ctx) } : {}),
      firstMessage: ctx.firstMessage,
      readsBinary: !ctx.endpoint?.isRealtime,
      isEstimated: sessionTraffic(ctx.endpoint?.proxyPath ?? '') === 'unknown',
      inspect: inspectorOf(ctx, attemptReply.allowModel),
      counted: () => firstError(ctx, ctx.plan.onSessionUsage),
      looked: async () => (await firstError(ctx, ctx.plan.onSessionLook)) ?? providerError(ctx, services),
      checkpoint() {
        for (const hook of ctx.plan.onCheckpoint) {
          try {
            hook(ctx);
          } catch (thrown) {
            services.log.error({ requestId: ctx.id, reason: reasonOf(thrown) }, 'onCheckpoint of a plugin failed');
          }
        }
      },
      end(outcome, recorded) {
        end(outcome);
        services.journal.whenSafe(recorded);
      },
    });
    return null;
  } finally {
    if (!started) slot.release();
  }
}

function inspectorOf(ctx: RequestContext, allowModel: UpgradedReply['allowModel']): SessionStart['inspect'] {
  const { onSessionMessage } = ctx.plan;
  if (allowModel === null) return onSessionMessage && ((message) => onSessionMessage(ctx, message));
  return (message) => {
    const checked = checkModels(message, allowModel);
    const [rewritten] = checked?.forward ?? [message];
    if (onSessionMessage === null || rewritten === undefined) return checked;
    const decision = onSessionMessage(ctx, { ...message, ...rewritten });
    return isPromise(decision) ? decision.then((decided) => decided ?? checked) : (decision ?? checked);
  };
}

/** Requests admitted by a plugin that replaces `auth`. */
const nobody = { organisationId: '', workspaceId: '', keyId: '' };

/** The gateway's own headers come first, because headers that do not fit are left out from the end. */
function headOf(ctx: RequestContext, reply: UpgradedReply): HeaderList {
  const headers: HeaderList = [];
  addGatewayHeaders(ctx, headers, 101, null);
  return [...headers, ...reply.headers];
}
