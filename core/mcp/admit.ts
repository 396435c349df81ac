import type { RequestContext } from '../contract/plugin/context.ts';
import type { ExternalTokens } from '../contract/protocol/mcp/external-tokens.ts';
import type { McpServerDocument } from '../contract/protocol/mcp/mcp.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import type { JsonObject } from '../contract/values/json/json.ts';
import type { Maybe } from '../contract/values/maybe.ts';
import type { McpParts } from './exchange.ts';
import { withIdentity } from './headers/identity-headers.ts';
import { Refusal } from './refusals.ts';
import type { ServerSettings } from './server/server-settings.ts';

type Parts = Pick<McpParts, 'settingsOf' | 'mappedHeaders' | 'externalTokensOf' | 'signIdentity'>;

/**
 * Returns the settings of a server for this request: with the claims of the caller's external token, and the header that states who calls.
 * Throws GatewayError `secret_unavailable` if a header cannot be read from its secret manager.
 * Throws Refusal 401 for an external token that is missing or not valid, and GatewayError `unavailable` if it cannot be validated now.
 */
export function admit(parts: Parts, ctx: RequestContext, document: McpServerDocument): Maybe<ServerSettings> {
  const settings = parts.settingsOf(document);
  const tokens = parts.externalTokensOf(document);
  if (document.mappedSecrets === undefined && tokens === null && !document.identity) return settings;
  return complete(parts, ctx, settings, tokens);
}

async function complete(
  parts: Parts,
  ctx: RequestContext,
  prepared: ServerSettings,
  tokens: ExternalTokens | null,
): Promise<ServerSettings> {
  const { mappedSecrets } = prepared.document;
  const settings = mappedSecrets === undefined ? prepared : await parts.mappedHeaders.complete(prepared);
  if (tokens === null) return withIdentity(ctx, settings, parts.signIdentity);
  const externalClaims = await validate(tokens, ctx);
  return withIdentity(ctx, { ...settings, tokenHeader: tokens.header, externalClaims }, parts.signIdentity);
}

async function validate(tokens: ExternalTokens, ctx: RequestContext): Promise<JsonObject> {
  try {
    return await tokens.validate(ctx);
  } catch (thrown) {
    if (!(thrown instanceof GatewayError) || thrown.status !== 401) throw thrown;
    throw new Refusal(401, 'unauthorized', thrown.message);
  }
}
