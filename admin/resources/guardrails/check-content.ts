import {
  type CheckDescription,
  type GuardrailSide,
  guardrailCatalogue,
  guardrailCataloguePath,
  guardrailChecksMs,
  guardrailChecksPath,
  guardrailReply,
} from '../../../core/contract/protocol/guardrail-checks.ts';
import { askGateway } from '../../http/ask-gateway.ts';
import { AdminError, invalid } from '../../http/errors.ts';
import type { AdminServices } from '../../http/route.ts';

type Services = Pick<AdminServices, 'settings' | 'log'>;

/**
 * Has a gateway check the checks of a guardrail, and returns the sides that all of them can run on. Throws AB01 with a line per issue (an
 * unknown check, a wrong parameter, checks of different sides), and AB10 if no gateway replies.
 */
export async function checkContent(
  services: Services,
  checks: readonly { readonly id: string }[],
  target: 'llm' | 'mcp_tools',
): Promise<GuardrailSide[]> {
  const foreign = target === 'mcp_tools' ? checks.findIndex(({ id }) => id.includes('.') && !id.startsWith('default.')) : -1;
  if (foreign !== -1) throw invalid(`checks[${foreign}].id: only checks of the service itself can run on MCP tools`);
  const { errors, sides } = await askGateway(services, {
    path: guardrailChecksPath,
    body: { checks },
    reply: guardrailReply,
    timeoutMs: guardrailChecksMs,
    what: 'check the guardrail',
  });
  if (errors.length > 0) throw new AdminError('AB01', errors[0] as string, errors);
  return sides;
}

/** Has a gateway list all checks. */
export async function listChecks(services: Services): Promise<CheckDescription[]> {
  const { checks } = await askGateway(services, {
    path: guardrailCataloguePath,
    body: {},
    reply: guardrailCatalogue,
    timeoutMs: guardrailChecksMs,
    what: 'list the checks',
  });
  return checks;
}
