import type { ToolChecks } from '../../json-rpc/tool-guardrails.ts';
import type { Work } from '../exchange.ts';

/**
 * Returns the guardrails of messages that name no tool: those of every tool of the server, without the checks that demand a form of a result. Null:
 * there are none.
 */
export async function checksWithoutTool({ parts, ctx, server }: Work): Promise<ToolChecks | null> {
  const checks = await parts.toolGuardrails.of(ctx, server.document, '');
  return checks && { ...checks, checkResult: checks.checkOther };
}
