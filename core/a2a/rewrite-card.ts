import { isObject, type JsonObject } from '../contract/values/json/json.ts';

export interface CardRewrite {
  /** Address of the agent at the gateway, for both bindings. */
  readonly url: string;
  readonly disabledSkills: readonly string[];
}

/** Bindings that pass through the gateway. */
const served: ReadonlySet<unknown> = new Set(['JSONRPC', 'HTTP+JSON']);

/**
 * Returns a card as clients of the gateway need it, in the shape of 0.3, of 1.0, or of both: addresses and credentials are those of the
 * gateway, disabled skills and the gRPC binding are left out. Signatures are removed, because they no longer match.
 */
export function rewriteCard(card: JsonObject, { url, disabledSkills }: CardRewrite): JsonObject {
  const { signatures: _, security: _security, securityRequirements: _requirements, ...kept } = card;
  const has03 = typeof card.url === 'string';
  const skills = Array.isArray(card.skills) ? card.skills.filter((skill) => !isDisabled(skill, disabledSkills)) : card.skills;
  return {
    ...kept,
    ...(skills === undefined ? {} : { skills: Array.isArray(skills) ? skills.map(withoutSecurity) : skills }),
    ...(has03 ? shapeOf03(card, url) : {}),
    ...(Array.isArray(card.supportedInterfaces)
      ? { supportedInterfaces: interfacesOf(card.supportedInterfaces, 'protocolBinding', url) }
      : {}),
    ...securityOf(card, has03),
  };
}

function shapeOf03(card: JsonObject, url: string): JsonObject {
  const { preferredTransport = 'JSONRPC', additionalInterfaces } = card;
  const others = Array.isArray(additionalInterfaces) ? interfacesOf(additionalInterfaces, 'transport', url) : null;
  const first = others?.[0]?.transport;
  return {
    url,
    // A card that prefers gRPC prefers the first of the others here.
    ...(card.preferredTransport === undefined
      ? {}
      : { preferredTransport: served.has(preferredTransport) ? preferredTransport : (first ?? 'JSONRPC') }),
    ...(others === null ? {} : { additionalInterfaces: others }),
  };
}

/** Interfaces of the served bindings, at the gateway's address. Two interfaces of one binding and version become one. */
function interfacesOf(all: readonly unknown[], binding: 'transport' | 'protocolBinding', url: string): JsonObject[] {
  const known = new Set<string>();
  const rewritten: JsonObject[] = [];
  for (const one of all) {
    if (!isObject(one) || !served.has(one[binding])) continue;
    const key = JSON.stringify([one[binding], one.protocolVersion, one.tenant]);
    if (known.has(key)) continue;
    known.add(key);
    rewritten.push({ ...one, url });
  }
  return rewritten;
}

/**
 * Clients authenticate to the gateway, with an API key or a JWT. The agent's own schemes are no use to them. A card of both versions has
 * the members of both in each scheme, as the official SDKs write it: the one for Go rejects a card with a scheme that it cannot read.
 */
function securityOf(card: JsonObject, has03: boolean): JsonObject {
  const has10 = Array.isArray(card.supportedInterfaces);
  const shapes = [...(has10 ? [securityOf10] : []), ...(has03 || !has10 ? [securityOf03] : [])];
  return {
    securitySchemes: {
      gatewayKey: Object.assign({}, ...shapes.map(({ key }) => key)),
      gatewayBearer: Object.assign({}, ...shapes.map(({ bearer }) => bearer)),
    },
    ...Object.assign({}, ...shapes.map(({ required }) => required)),
  };
}

const securityOf10 = {
  key: { apiKeySecurityScheme: { location: 'header', name: 'x-svc-api-key' } },
  bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } },
  required: { securityRequirements: [{ schemes: { gatewayKey: { list: [] } } }, { schemes: { gatewayBearer: { list: [] } } }] },
};

const securityOf03 = {
  key: { type: 'apiKey', in: 'header', name: 'x-svc-api-key' },
  bearer: { type: 'http', scheme: 'bearer' },
  required: { security: [{ gatewayKey: [] }, { gatewayBearer: [] }] },
};

function isDisabled(skill: unknown, disabled: readonly string[]): boolean {
  return isObject(skill) && typeof skill.id === 'string' && disabled.includes(skill.id);
}

function withoutSecurity(skill: unknown): unknown {
  if (!isObject(skill)) return skill;
  const { security: _, securityRequirements: _requirements, ...kept } = skill;
  return kept;
}
