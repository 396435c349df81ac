import * as v from 'valibot';
import type { MappedSecretDocument } from '../contract/protocol/credentials/secret-reference.ts';
import type { Credentials } from '../contract/provider/provider.ts';
import type { SignServices } from '../contract/provider/sign-services.ts';
import { checkOutboundUrl, type TrustedHosts } from '../contract/values/addresses/outbound-url.ts';
import { isTrustedAddress, isTrustedName } from '../contract/values/addresses/trusted-hosts.ts';
import type { Secret } from '../contract/values/credentials/secret.ts';
import { type JsonObject, parseObject } from '../contract/values/json/json.ts';
import { away, refused } from './secret-error.ts';

/** Content that a manager stores under one path: a text, or fields as the text of a JSON object. */
export interface SecretContent {
  readonly kind: 'text' | 'fields';
  readonly text: Secret;
}

/** Services for a reader. */
export interface ReadServices {
  /**
   * The gateway's one connector, with deadlines and a size limit; uses the machine's identity only if the deployment allows it.
   */
  readonly sign: SignServices;
  /** Hosts of the operator (TRUSTED_CUSTOM_HOSTS). */
  readonly trusted: TrustedHosts;
  /** File of the pod's service account token. */
  readonly serviceAccountTokenFile: string;
}

/** Reads one kind of manager. Rejects with SecretError, or with GatewayError of the connector or of an identity. */
export type SecretReader = (
  mapped: MappedSecretDocument,
  credentials: Credentials,
  organisationId: string,
  services: ReadServices,
) => Promise<SecretContent>;

export interface ManagerAddress {
  /** Scheme, host, port and path, without trailing slash. */
  readonly base: string;
  readonly hostname: string;
  readonly isTrusted: boolean;
}

/**
 * Returns the location of a manager. A host is trusted by its own name or address, never by the address its name resolves to.
 * Plain HTTP is allowed only for trusted hosts. Throws SecretError naming the field.
 */
export function addressOf(field: string, auth: MappedSecretDocument['auth'], trusted: TrustedHosts): ManagerAddress {
  const check = checkOutboundUrl(required(auth, field), { trusted });
  if (!check.ok) throw refused(`${field} ${check.reason}`);
  const { origin, basePath, protocol, hostname, port } = check.url;
  const isTrusted = isTrustedName(trusted, hostname, port) || isTrustedAddress(trusted, hostname, port);
  if (protocol === 'http:' && !isTrusted) throw refused(`${field}: expected a URL with https://`);
  return { base: origin + basePath, hostname, isTrusted };
}

/** Parses the settings of a reference with this schema. Throws SecretError naming the first invalid one. */
export function checkedAuth<Settings>(schema: v.GenericSchema<unknown, Settings>, auth: MappedSecretDocument['auth']): Settings {
  const parsed = v.safeParse(schema, auth);
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  throw refused(
    `${v.getDotPath(issue) ?? 'auth_config'}: ${issue.message.startsWith('expected ') ? '' : 'expected '}${issue.message}`,
  );
}

/** Returns a setting of the reference. Throws SecretError naming it. */
export function required(auth: MappedSecretDocument['auth'], field: string): string {
  const value = auth[field];
  if (value === undefined || value === '') throw refused(`${field} is missing`);
  return value;
}

/** Returns a secret of the reference. Throws SecretError naming it. */
export function requiredSecret(credentials: Credentials, field: string): string {
  const value = credentials[field]?.reveal() ?? '';
  if (value === '') throw refused(`${field} is missing`);
  return value;
}

/** Returns the JSON object of a reply. Throws SecretError: a manager with invalid replies counts as unreachable. */
export function objectIn(who: string, body: Uint8Array): JsonObject {
  const object = parseObject(body);
  if (object) return object;
  throw away(`${who} sent a reply that cannot be read`);
}
