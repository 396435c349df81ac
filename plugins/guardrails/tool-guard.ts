import type { RequestContext } from '../../core/contract/plugin/context.ts';
import type { CoreServices } from '../../core/contract/plugin/core-plugin.ts';
import type {
  CompiledToolGuardrail,
  ToolGuard,
  ToolSide,
  ToolVerdict,
} from '../../core/contract/plugin/guardrails/tool-guard.ts';
import { GatewayError } from '../../core/contract/values/errors/errors.ts';
import { messageOf } from '../../core/contract/values/errors/message-of.ts';
import type { JsonObject } from '../../core/contract/values/json/json.ts';
import { after, isPromise, type Maybe } from '../../core/contract/values/maybe.ts';
import { compileGuardrails, type Guardrail } from './compile.ts';
import { isDenied, recordResults } from './hook-results.ts';
import { type BodyFacts, type GuardrailResult, runGuardrails } from './run.ts';
import { toolTexts } from './tool-texts.ts';

interface Compiled extends CompiledToolGuardrail, Guardrail {
  readonly side: ToolSide;
  /** Id of the saved guardrail. */
  readonly savedId: string;
  /** Set if it judges messages beside calls and results, which need not have a text. */
  readonly isOfOthers?: true;
}

/** Runs guardrails on the arguments and results of MCP tools. */
export function createToolGuard(services: CoreServices): ToolGuard {
  const { clock } = services;
  const record = (ctx: RequestContext, results: readonly GuardrailResult[]): void => recordResults(ctx, results, null);
  return {
    compile(rule, side) {
      const errors: string[] = [];
      const [guardrail] = compileGuardrails([rule], side, services, errors);
      if (errors.length === 0) return { ...(guardrail as Guardrail), side, savedId: rule.saved?.id ?? '' } as Compiled;
      throw new GatewayError('invalid_config', { message: `Invalid guardrail ${rule.id}: ${errors.join('; ')}`, errors });
    },
    ofOthers(compiled) {
      return (compiled as readonly Compiled[])
        .map((one) => ({ ...one, isOfOthers: true, checks: one.checks.filter(({ demandsForm }) => !demandsForm) }))
        .filter(({ checks }) => checks.length > 0);
    },
    run(compiled, ctx, body) {
      const all = compiled as readonly Compiled[];
      if (all.length === 0) return { body, denial: null };
      const facts = factsOfSide[(all[0] as Compiled).side];
      const failed = (thrown: unknown): ToolVerdict => {
        return { body, denial: { guardrailId: (all[0] as Compiled).savedId, reason: messageOf(thrown) } };
      };
      try {
        if (all[0]?.isOfOthers && toolTexts(body, all[0].side).length === 0) return { body, denial: null };
        const verdict = check(all, ctx, body, facts);
        return isPromise(verdict) ? verdict.catch(failed) : verdict;
      } catch (thrown) {
        return failed(thrown);
      }
    },
  };

  function check(all: readonly Compiled[], ctx: RequestContext, body: JsonObject, facts: BodyFacts): Maybe<ToolVerdict> {
    const later = all.filter(isAsync);
    if (later.length > 0) {
      const done = runGuardrails(later, ctx, body, clock, facts);
      if (isPromise(done))
        void done.then(
          ({ results }) => record(ctx, results),
          () => undefined,
        );
      else record(ctx, done.results);
    }
    const first = later.length === 0 ? all : all.filter((guardrail) => !guardrail.async);
    if (first.length === 0) return { body, denial: null };
    return after(runGuardrails(first, ctx, body, clock, facts), ({ results, body: changed }) => {
      record(ctx, results);
      const denied = results.find(isDenied);
      if (denied === undefined) return { body: changed, denial: null };
      return { body: changed, denial: { guardrailId: (denied.guardrail as Compiled).savedId, reason: reasonOf(denied) } };
    });
  }
}

const facts = { operation: null, requestType: 'mcp', model: null, isReadable: true, isFixed: false } as const;
const factsOfSide: Readonly<Record<ToolSide, BodyFacts>> = {
  input: { ...facts, tool: 'input' },
  output: { ...facts, tool: 'output' },
};

function isAsync({ async }: Guardrail): boolean {
  return async;
}

/** Returns the text that the guardrail sets, or names the failed checks. Their explanations could quote the text. */
function reasonOf({ guardrail, checks }: GuardrailResult): string {
  if (guardrail.message !== null) return guardrail.message;
  const failed = checks.filter(({ passed }) => !passed).map(({ id }) => id);
  return `${failed.join(', ')} failed on the ${guardrail.side === 'input' ? 'arguments' : 'result'} of the tool`;
}
