import type { RequestContext } from '../../../../core/contract/plugin/context.ts';
import type { ExternalTokenRules, ExternalTokens } from '../../../../core/contract/protocol/mcp/external-tokens.ts';
import { GatewayError } from '../../../../core/contract/values/errors/errors.ts';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import type { CheckServices } from '../check.ts';
import { claimIssues } from './claims.ts';
import { createIntrospection } from './introspection.ts';
import { createKeys } from './keys.ts';
import { verify } from './verify.ts';

/** Returns the validation of external tokens by these rules. It caches keys and verdicts. */
export function createExternalTokens(rules: ExternalTokenRules, services: CheckServices): ExternalTokens {
  const keys = createKeys(rules, services);
  const introspect = createIntrospection(rules, services);
  const { introspectEndpoint, headerKey, maxTokenAge = null } = rules;
  const validate = async (ctx: RequestContext): Promise<JsonObject> => {
    const header = ctx.request.header(headerKey);
    if (!header) throw refused(`The header ${headerKey} is missing. Send the token of this server in it`);
    const token = header.replace(/^Bearer\s+/i, '').trim();
    const checked = await (introspectEndpoint === undefined
      ? verify(token, keys, { ...rules, maxTokenAge })
      : introspect(token)
    ).catch(() => {
      throw new GatewayError('unavailable', {
        message: 'The external token cannot be validated now. Try again shortly',
        retryAfterMs: 5_000,
      });
    });
    if (!checked.ok) throw refused(`The external token is invalid: ${checked.explanation}`);
    const { issues } = claimIssues(checked.claims, rules, (name) => ctx.request.header(name));
    if (issues.length > 0) throw refused(`The external token is refused: ${issues.join('; ')}`);
    return checked.claims;
  };
  return { header: headerKey, validate };
}

function refused(message: string): GatewayError {
  return new GatewayError('invalid_api_key', { message });
}
