import type { RequestContext } from '../../core/contract/plugin/context.ts';
import { type CoreHooks, type CorePlugin, type CoreServices, defineCorePlugin } from '../../core/contract/plugin/core-plugin.ts';
import { type Compiled, compileTargets, noGuardrails } from './guardrail-lists.ts';
import { RequestChecks } from './request-checks.ts';
import { RequestStates } from './request-state.ts';
import { ResponseChecks } from './response-checks.ts';
import { guardrailsConfig } from './schema.ts';
import { onChunk, onOwnReply, onReply } from './show-results.ts';

/** Runs the guardrails of a config: at the start of requests, on requests before the provider is called, on responses before they are sent. */
export const guardrails = (): CorePlugin =>
  defineCorePlugin({
    name: 'guardrails',
    stage: 'input-guardrails',
    after: ['config-resolution', 'limits'],
    config: guardrailsConfig,
    onConfig(_config, { targets }, services) {
      const compiled = compileTargets(targets, services);
      const [first] = compiled;
      if (!first || compiled.every(({ start, input, output }) => start.all.length + input.all.length + output.all.length === 0))
        return null;
      // Targets with prompts of their own send different requests.
      const isShared = compiled.every(({ input }) => input === first.input) && targets.every(({ promptId }) => promptId === null);
      return hooksOf(compiled, services, isShared);
    },
  });

/** `isShared`: all targets have the same input guardrails, which then run once and before the cache is asked. */
function hooksOf(compiled: readonly Compiled[], services: CoreServices, isShared: boolean): CoreHooks {
  const states = new RequestStates(services);
  const requests = new RequestChecks(compiled, services, states);
  const responses = new ResponseChecks(compiled, services, states);
  const start = compiled[0]?.start ?? noGuardrails;
  const hasInput = compiled.some(({ input }) => input.all.length > 0);
  const modes = new Set(compiled.flatMap(({ output }) => output.all.map(({ stream }) => stream)));
  return {
    ...(start.all.length > 0 ? { onStart: (ctx) => requests.checkStart(ctx, start) } : {}),
    onRequest: (ctx) => requests.onRequest(ctx, isShared),
    ...(hasInput && !isShared ? { onAttempt: (ctx, target) => requests.onAttempt(ctx, target) } : {}),
    onAttemptResponse: (ctx, response, target) => responses.onAttemptResponse(ctx, response, target),
    onOwnReply: (ctx, reply) => onOwnReply(ctx, states.of(ctx), reply),
    onBatch: (ctx, target) => requests.onBatch(ctx, target),
    onSessionMessage: (ctx, message) => requests.onSessionMessage(ctx, message),
    onReply: (ctx, head) => onReply(ctx, states.of(ctx), head, services.clock),
    onChunk: (ctx, chunk) => onChunk(states.of(ctx), chunk),
    ...(modes.has('observe') || modes.has('window') ? { onStreamEnd: (ctx) => responses.onStreamEnd(ctx) } : {}),
    onEnd: (ctx, outcome) => responses.onEnd(ctx, outcome),
    ...(modes.has('buffer') ? { holdsStream: () => true } : modes.has('window') ? { holdsStream: hasOtherFormat } : {}),
    // Pass-through bodies are parsed for the checks of requests.
    ...(hasInput ? { readsParams: true } : {}),
  };
}

/** Returns true for routes whose streams have no format that a window reads: guardrails that need one hold them instead. */
function hasOtherFormat({ endpoint }: RequestContext): boolean {
  return (endpoint?.format ?? 'plain') === 'plain' || endpoint?.operation === null;
}
