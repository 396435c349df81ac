import * as v from 'valibot';
import type { Outcome, RequestContext } from '../../core/contract/plugin/context.ts';
import { type CorePlugin, defineCorePlugin } from '../../core/contract/plugin/core-plugin.ts';
import { ContentCapture, type ContentLog } from '../../core/contract/plugin/record/content-capture.ts';
import { isDebugOff } from '../../core/contract/plugin/record/is-debug-off.ts';
import type { RequestRecord } from '../../core/contract/plugin/record/record.ts';
import type { WorkspaceDocument } from '../../core/contract/protocol/documents.ts';
import { GatewayError, reasonOf } from '../../core/contract/values/errors/errors.ts';
import { isoTime } from '../../core/contract/values/time/iso-time.ts';
import { toHold } from './to-hold.ts';
import { toRecord } from './to-record.ts';

/** One record per request, for every outcome. Before the reply is complete, the record or a note of the call is on disk. */
export const record = (): CorePlugin =>
  defineCorePlugin({
    name: 'record',
    stage: 'record',
    config: v.optional(v.strictObject({})),
    onConfig(_config, _scope, services) {
      const { journal, clock, contents } = services;
      const checkpoints = services.slot<number>();
      const heldTargets = services.slot<string | null>();
      return {
        onRequest() {
          // A request that cannot be recorded is rejected. Otherwise a full disk would make calls free.
          if (!journal.healthy()) throw unrecordable();
        },
        ...(contents === undefined
          ? undefined
          : {
              onStart(ctx: RequestContext) {
                capture(ctx, ctx.workspace, contents);
                return undefined;
              },
              onError(ctx: RequestContext) {
                return ctx.planEntered ? undefined : captureRefusal(ctx, contents);
              },
            }),
        onSend(ctx) {
          // A retry at the same target is the same call.
          if (heldTargets.get(ctx) === ctx.targetPath) return undefined;
          heldTargets.set(ctx, ctx.targetPath);
          journal.hold(toHold(ctx));
          // An admitted call is on disk before a provider can bill it. Calls without limits do not wait.
          return ctx.reservations === null ? undefined : new Promise((resolve) => journal.whenSafe(resolve));
        },
        onCheckpoint(ctx) {
          const checkpoint = (checkpoints.get(ctx) ?? 0) + 1;
          checkpoints.set(ctx, checkpoint);
          append({ ...toRecord(ctx, stillOpen, clock.elapsed()), checkpoint });
        },
        onEnd(ctx, outcome) {
          append(toRecord(ctx, outcome, clock.elapsed()));
          if (ctx.content !== null && contents !== undefined) addContent(ctx, ctx.content, contents, outcome.status);
        },
      };

      /** A request that is refused before its plan is known may lack its workspace, whose settings decide. */
      async function captureRefusal(ctx: RequestContext, contents: ContentLog): Promise<undefined> {
        const { identity } = ctx;
        if (identity === null || identity.workspaceId === '') return;
        try {
          const workspace = ctx.workspace ?? (await services.documents.get('workspace', identity.workspaceId));
          if (workspace !== null) capture(ctx, workspace, contents);
        } catch (thrown) {
          // Without the control plane the settings are unknown. The error is sent in any case.
          services.log.debug({ requestId: ctx.id, reason: reasonOf(thrown) }, 'the bodies of a refused request are not stored');
        }
      }

      function append(record: RequestRecord): void {
        try {
          journal.append(record);
        } catch (thrown) {
          // The journal counts and logs this once, not for each rejected request.
          if (!(thrown instanceof GatewayError) || thrown.code !== 'unavailable') throw thrown;
        }
      }
    },
  });

function capture(ctx: RequestContext, workspace: WorkspaceDocument | null, { bodyBytesMax }: ContentLog): void {
  const mode = contentMode(ctx, workspace);
  if (mode !== 'none') ctx.content = new ContentCapture(bodyBytesMax, mode === 'errors');
}

/** Calls of the gateway itself are not captured: their texts are those of the request they serve. Replies with client secrets are not either. */
function contentMode(ctx: RequestContext, workspace: WorkspaceDocument | null): 'all' | 'errors' | 'none' {
  const { purpose, identity, endpoint } = ctx;
  if (purpose !== null || identity === null || !endpoint || isDebugOff(ctx, workspace)) return 'none';
  if (endpoint.isRealtime || endpoint.repliesWithSecret) return 'none';
  const settings = workspace?.settings;
  if (settings?.debugLog !== false) return 'all';
  return settings.keepErrorBodies === true ? 'errors' : 'none';
}

function addContent(ctx: RequestContext, reply: ContentCapture, contents: ContentLog, status: number): void {
  const { id, identity, endpoint, request, body, prompt, requestBytes } = ctx;
  if (identity === null || (reply.isErrorOnly && status < 400)) return;
  contents.add({
    ...{ id, createdAt: isoTime(ctx.receivedAtMs), reply, maskedHeaders: sensitiveHeaders(ctx) },
    ...(reply.isErrorOnly
      ? { requestHeaders: [], requestBody: noBytes, prompt: null }
      : {
          ...{ requestHeaders: request.headers, requestBody: body },
          prompt: prompt === null ? null : { variables: prompt.variables, bytes: requestBytes },
        }),
    ...{ organisationId: identity.organisationId, workspaceId: identity.workspaceId, operation: endpoint?.operation ?? null },
  });
}

function sensitiveHeaders({ gatewayHeaders }: RequestContext): string[] {
  const names = gatewayHeaders.get('sensitive-headers') ?? '';
  return names === '' ? [] : names.split(',').map((name) => name.trim().toLowerCase());
}

const noBytes = new Uint8Array();

const stillOpen: Outcome = { kind: 'open', status: 101, error: null };

function unrecordable(): GatewayError {
  return new GatewayError('unavailable', {
    message: 'The gateway cannot store further request records. Try again shortly',
    retryAfterMs: 5000,
  });
}
