import type { GuardrailSide } from '../../../core/contract/plugin/guardrails/guardrail-config.ts';
import {
  type CheckDescription,
  guardrailCatalogue,
  guardrailCataloguePath,
  guardrailChecksMs,
  guardrailChecksPath,
  guardrailReply,
} from '../../../core/contract/protocol/control-plane-calls/guardrail-checks.ts';
import { newId } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { AdminServices } from '../../http/admin-services.ts';
import { AdminError, invalid } from '../../http/errors.ts';
import { askGateway } from '../../http/gateways/ask-gateway.ts';
import { sealForGateways, withPartners } from './secrets.ts';

type Services = Pick<AdminServices, 'settings' | 'log'>;

interface Call {
  readonly services: Services & Pick<AdminServices, 'vault'>;
  readonly em: EntityManager;
  readonly organisationId: string;
}

/**
 * Has a gateway check the checks of a guardrail, and returns the sides that all of them can run on. Throws AB01 with a line per issue (an
 * unknown check, a wrong parameter, checks of different sides), and AB10 if no gateway replies.
 */
export async function checkContent(
  { services, em, organisationId }: Call,
  checks: readonly { readonly id: string; readonly parameters?: Readonly<Record<string, unknown>> | undefined }[],
  target: 'llm' | 'mcp_tools',
): Promise<GuardrailSide[]> {
  const foreign = target === 'mcp_tools' ? checks.findIndex(({ id }) => !runsOnTools(id)) : -1;
  if (foreign !== -1) throw invalid(`checks[${foreign}].id: checks of models and partners cannot run on MCP tools`);
  const { errors, sides } = await askGateway(services, {
    path: guardrailChecksPath,
    body: { checks, ...(await sealedFor({ services, em, organisationId }, checks)) },
    reply: guardrailReply,
    timeoutMs: guardrailChecksMs,
    what: 'check the guardrail',
  });
  if (errors.length > 0) throw new AdminError('AB01', errors[0] as string, errors);
  return sides;
}

/** Checks that read texts without a model and without a partner, and webhooks. */
function runsOnTools(id: string): boolean {
  return !id.includes('.') || id.startsWith('default.') || toolChecks.has(id);
}

const toolChecks: ReadonlySet<string> = new Set([
  'svc.gibberish',
  'svc.language',
  'svc.pii',
  'svc.promptInjection',
  'svc.secrets',
]);

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

/** The credentials of partners that unsaved checks need, sealed for a gateway. */
export async function sealedFor(
  { services, em, organisationId }: Call,
  checks: Parameters<typeof checkContent>[1],
): Promise<{ versionId: string; secrets: string | null }> {
  const versionId = newId();
  const secrets = await withPartners(em, services.vault, organisationId, checks);
  return { versionId, secrets: sealForGateways(services.settings.clusterKey, versionId, secrets) };
}
