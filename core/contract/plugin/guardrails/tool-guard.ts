import type { JsonObject } from '../../values/json/json.ts';
import type { Maybe } from '../../values/maybe.ts';
import type { RequestContext } from '../context.ts';
import type { GuardrailRule } from './guardrail-config.ts';

/** `input`: the arguments of a call of an MCP tool. `output`: its result. */
export type ToolSide = 'input' | 'output';

/** A guardrail that was compiled for one side of tool calls. */
export interface CompiledToolGuardrail {
  readonly side: ToolSide;
}

export interface ToolVerdict {
  /** The body after all changes; the given one if nothing was changed. */
  readonly body: JsonObject;
  /** The first guardrail that denies; null: none does. */
  readonly denial: { readonly guardrailId: string; readonly reason: string } | null;
}

/** Runs saved guardrails on calls of MCP tools. */
export interface ToolGuard {
  /** Throws GatewayError `invalid_config` for a rule that cannot run on this side. */
  compile(rule: GuardrailRule, side: ToolSide): CompiledToolGuardrail;
  /**
   * Runs guardrails of one side, and adds their results to the record. Nothing waits for asynchronous ones. `input`: a body with `name`,
   * `arguments`, `inputResponses`, `others` and `repeated`. `output`: the result. Never rejects.
   */
  run(guardrails: readonly CompiledToolGuardrail[], ctx: RequestContext, body: JsonObject): Maybe<ToolVerdict>;
  /**
   * Returns the guardrails for messages that are no call of a tool and no result: without the checks that demand a form of the whole text. A message
   * without a text passes them.
   */
  ofOthers(guardrails: readonly CompiledToolGuardrail[]): readonly CompiledToolGuardrail[];
}
