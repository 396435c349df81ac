import type { RequestContext } from '../../core/contract/plugin/context.ts';
import { type CoreHooks, type CorePlugin, type CoreServices, defineCorePlugin } from '../../core/contract/plugin/core-plugin.ts';
import type { Target } from '../../core/contract/plugin/plan.ts';
import type { Guardrail, PreparedCheck } from './compile.ts';
import { type Compiled, compileTargets, noGuardrails } from './guardrail-lists.ts';
import { listsFailedStatus } from './lists-failed-status.ts';
import { RequestChecks } from './request-checks.ts';
import { RequestStates } from './request-state.ts';
import { ResponseChecks } from './response-checks.ts';
import { guardrailsConfig } from './schema.ts';
import { onChunk, onOwnReply, onReply } from './show-results.ts';
import { repliesWithMessages, textMembers } from './texts.ts';

/** Runs the guardrails of a config: at the start of requests, on requests before the provider is called, on responses before they are sent. */
export const guardrails = (): CorePlugin =>
  defineCorePlugin({
    name: 'guardrails',
    stage: 'input-guardrails',
    after: ['config-resolution', 'limits'],
    config: guardrailsConfig,
    onConfig(_config, { config, targets }, services) {
      const compiled = compileTargets(targets, services);
      const [first] = compiled;
      if (!first || compiled.every(({ start, input, output }) => start.all.length + input.all.length + output.all.length === 0))
        return null;
      // Targets with prompts or texts of their own send different requests.
      const isShared = compiled.every(({ input }) => input === first.input) && !targets.some(hasOwnTexts);
      return hooksOf(compiled, services, isShared, listsFailedStatus(config));
    },
  });

function hasOwnTexts({ promptId, defaultParams, overrideParams }: Target): boolean {
  return promptId !== null || textMembers(defaultParams) !== null || textMembers(overrideParams) !== null;
}

/**
 * `isShared`: all targets have the same input guardrails, which then run once and before the cache is asked. `listsFailed`: the config continues
 * after failed guardrails, so that no byte of such a stream may be sent before.
 */
function hooksOf(compiled: readonly Compiled[], services: CoreServices, isShared: boolean, listsFailed: boolean): CoreHooks {
  const states = new RequestStates(services);
  const requests = new RequestChecks(compiled, services, states);
  const responses = new ResponseChecks(compiled, services, states);
  const start = compiled[0]?.start ?? noGuardrails;
  const hasInput = compiled.some(({ input }) => input.all.length > 0);
  const readsModels = compiled.some(({ input }) => input.all.some(({ checks }) => checks.some((check) => check.readsModels)));
  const readsFiles = compiled.some(({ input }) => input.all.some(({ checks }) => checks.some(readsFile)));
  const modes = new Set(compiled.flatMap(({ output }) => output.all.map(({ stream }) => stream)));
  return {
    ...(start.all.length > 0 ? { onStart: (ctx) => requests.checkStart(ctx, start) } : {}),
    onRequest: (ctx) => requests.onRequest(ctx, isShared),
    ...(hasInput && !isShared ? { onAttempt: (ctx, target) => requests.onAttempt(ctx, target) } : {}),
    ...(readsModels && isShared ? { onAttempt: (ctx, target) => requests.checkModelOf(ctx, target) } : {}),
    onAttemptResponse: (ctx, response, target) => responses.onAttemptResponse(ctx, response, target),
    ...(responses.judgesErrors ? { onProviderError: (ctx, error, target) => responses.onProviderError(ctx, error, target) } : {}),
    onOwnReply: (ctx, reply) => onOwnReply(ctx, states.of(ctx), reply),
    onBatch: (ctx, target) => requests.onBatch(ctx, target),
    onSessionMessage: (ctx, message) => requests.onSessionMessage(ctx, message),
    onReply: (ctx, head) => onReply(ctx, states.of(ctx), head, services.clock),
    onChunk: (ctx, chunk) => onChunk(states.of(ctx), chunk),
    ...(modes.has('observe') || modes.has('window') ? { onStreamEnd: (ctx) => responses.onStreamEnd(ctx) } : {}),
    onEnd: (ctx, outcome) => responses.onEnd(ctx, outcome),
    ...holdingHooks(modes, hasInput && listsFailed ? states : null),
    // Pass-through bodies are parsed for the checks of requests.
    ...(hasInput ? { readsParams: true } : {}),
    ...(readsFiles ? { readsUploads: true } : {}),
  };
}

function readsFile({ readsNoText, demandsForm }: PreparedCheck): boolean {
  return !readsNoText && !demandsForm;
}

/** `failed`: the states of requests whose streams are held if a guardrail of the request failed; null: no stream is held for this. */
function holdingHooks(modes: ReadonlySet<Guardrail['stream']>, failed: RequestStates | null): Pick<CoreHooks, 'holdsStream'> {
  if (modes.has('buffer')) return { holdsStream: () => true };
  const holds = modes.has('window') ? hasOtherFormat : null;
  if (failed === null) return holds === null ? {} : { holdsStream: holds };
  return { holdsStream: (ctx) => failed.of(ctx).before.some(({ verdict }) => !verdict) || holds?.(ctx) === true };
}

/** Returns true for routes whose streams have no format that a window reads: guardrails that need one hold them instead. */
function hasOtherFormat({ endpoint }: RequestContext): boolean {
  return (endpoint?.format ?? 'plain') === 'plain' || !repliesWithMessages(endpoint?.operation ?? null);
}
