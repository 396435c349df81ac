import * as v from 'valibot';
import { invokeGuardrails } from '../../plugins/guardrails/invoke.ts';
import { type Identity, RequestContext } from '../contract/plugin/context.ts';
import {
  type GuardrailReference,
  guardrailReference,
  guardrailsOf,
  isRule,
  ruleOfSaved,
} from '../contract/plugin/guardrails/guardrail-config.ts';
import type { Reply } from '../contract/plugin/plugin.ts';
import type { Endpoint } from '../contract/plugin/requests/endpoint.ts';
import {
  type GuardrailTest,
  type GuardrailTestReply,
  testedSide,
  textCharsMax,
} from '../contract/protocol/control-plane-calls/guardrail-checks.ts';
import { GatewayError, toGatewayError } from '../contract/values/errors/errors.ts';
import { invalidBody } from '../contract/values/errors/invalid-body.ts';
import type { InboundRequest } from '../contract/values/http/http.ts';
import { loadGuardrails } from '../pipeline/plan/saved-guardrails.ts';
import type { PipelineOptions } from '../pipeline/run.ts';
import type { GuardrailReplies } from './guardrail-routes.ts';

const question = v.strictObject({
  guardrails: v.pipe(v.array(guardrailReference), v.minLength(1), v.maxLength(20)),
  side: v.optional(testedSide, 'input'),
  text: v.pipe(v.string(), v.maxLength(textCharsMax)),
  model: v.optional(v.pipe(v.string(), v.maxLength(255))),
});

type Parts = Pick<PipelineOptions, 'match' | 'plans' | 'services' | 'prefixes'>;

/**
 * Serves `POST /v1/guardrails/invoke`: runs saved guardrails of the caller's workspace or organisation on a text, and returns their
 * verdict. Calls no provider. Checks see the headers and metadata of this request.
 */
export async function replyToInvocation(parts: Parts, asking: RequestContext): Promise<Reply> {
  const parsed = v.safeParse(question, asking.params);
  if (!parsed.success) throw invalidBody(parsed.issues, question);
  const { guardrails, side, text, model } = parsed.output;
  const identity = asking.identity as Identity;
  const ctx = contextOf(parts, asking.request, model ?? null);
  ctx.identity = identity;
  ctx.workspace = asking.workspace;
  ctx.keyHeader = asking.keyHeader;
  ctx.token = asking.token;
  ctx.metadata = asking.metadata;
  const entries = guardrailsOf({ [`${side}_guardrails`]: guardrails }, side) ?? [];
  const rules = await savedRules(parts, identity, entries.filter((entry) => !isRule(entry)) as GuardrailReference[], side);
  const { reply, records } = await invokeGuardrails(ctx, rules, side, text, parts.services);
  asking.guardrails = records;
  const body = JSON.stringify({ object: 'guardrail.invocation', side, ...reply });
  return { status: 200, headers: ['content-type', 'application/json'], body };
}

/** Runs a test of the control plane. Errors are part of the reply. */
export async function testGuardrail(
  parts: Parts & Pick<GuardrailReplies, 'openSecrets'>,
  test: GuardrailTest,
): Promise<GuardrailTestReply> {
  const { organisationId, workspaceId, guardrail, versionId, checks, actions, sealed, side, text, model, metadata } = test;
  const ctx = contextOf(parts, noRequest, model);
  ctx.metadata = metadata;
  try {
    const reference = { path: 'guardrail', name: guardrail ?? '', versionId, type: 'guardrail', actions: {} } as const;
    const unsaved = { id: 'test', slug: 'test', versionId: sealed.versionId, checks, actions };
    const rules =
      guardrail === null
        ? [ruleOfSaved(reference, unsaved, parts.openSecrets(sealed))]
        : await savedRules(parts, { organisationId, workspaceId: workspaceId ?? organisationId }, [reference], side);
    const { reply } = await invokeGuardrails(ctx, rules, side, text, parts.services);
    return { errors: [], reply };
  } catch (thrown) {
    const { errors, message, code, detail } = toGatewayError(thrown);
    if (code === 'internal') throw thrown;
    return { errors: errors === null ? [detail ?? message] : [...errors], reply: null };
  }
}

async function savedRules(
  { plans, services }: Parts,
  owner: Pick<Identity, 'organisationId' | 'workspaceId'>,
  references: readonly GuardrailReference[],
  side: GuardrailTest['side'],
) {
  const loaded = await loadGuardrails(services.documents, owner, references, null, 'guardrails');
  return plans.rulesOf(references, loaded, side);
}

/** The text as a chat completion, for the guardrails. */
function contextOf({ match, plans, services, prefixes }: Parts, request: InboundRequest, model: string | null): RequestContext {
  const id = services.newId();
  const ctx = new RequestContext({
    id,
    receivedAtMs: services.clock.now(),
    request,
    gatewayHeaders: new Map(),
    headerPrefix: prefixes[0] as string,
    endpoint: match('POST', '/v1/chat/completions') as Endpoint,
    plan: plans.base,
    traceId: id,
  });
  ctx.setParams(model === null ? {} : { model });
  return ctx;
}

const noRequest: InboundRequest = {
  method: 'POST',
  path: '/v1/chat/completions',
  query: '',
  headers: [],
  header: () => undefined,
  remoteAddress: '127.0.0.1',
  body: {
    length: 0,
    bytes: async () => new Uint8Array(0),
    pipe: () => {
      throw new GatewayError('internal', { detail: 'the body of a guardrail test cannot be piped' });
    },
  },
};
