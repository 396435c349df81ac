import * as v from 'valibot';
import type { SecretManagerType } from '../../../core/contract/protocol/credentials/secret-reference.ts';
import { invalid } from '../../http/errors.ts';
import { originOf } from '../../http/gateways/check-host.ts';
import { validate } from '../../http/request/validate.ts';
import { isMasked } from '../../secrets/sealed-fields.ts';

/** Credentials for a secret manager, split into secret and plain fields. */
export interface AuthConfig {
  readonly settings: Record<string, string>;
  /** New values only. An empty one removes the stored value. */
  readonly secrets: Record<string, string>;
}

/** Stored `auth_config` of a reference before a change; empty for a new reference. */
export interface KnownAuth {
  readonly auth: Readonly<Record<string, string>>;
  readonly secretHints: Readonly<Record<string, string>>;
}

/**
 * Returns the `auth_config` after a change: omitted fields stay, null removes, a masked secret is unchanged. Another
 * authentication mode keeps the fields that both modes have. A stored secret stays on its host: a change of the host needs the
 * secret again. Throws AB01 with the path of the field.
 */
export function mergeAuthConfig(type: SecretManagerType, sent: Readonly<Record<string, unknown>>, known: KnownAuth): AuthConfig {
  const { by, ways } = managers[type];
  const way = sent[by] ?? known.auth[by];
  if (way === undefined) throw invalid(`auth_config.${by}: required for ${type}`);
  const fields = typeof way === 'string' && Object.hasOwn(ways, way) ? ways[way] : undefined;
  if (fields === undefined) throw invalid(`auth_config.${by}: one of ${Object.keys(ways).join(', ')} is expected`);

  const before = Object.entries(known.auth).filter(([name]) => name === by || Object.hasOwn(fields, name));
  const stated = Object.entries(sent).filter(([name, value]) => !(fields[name]?.secret && isMasked(value)));
  const merged: Record<string, unknown> = { ...Object.fromEntries(before), ...Object.fromEntries(stated), [by]: way };
  const isUnchanged = (name: string) => fields[name]?.secret === true && name in known.secretHints && !(name in merged);
  refuseMove(known, merged, Object.keys(fields).filter(isUnchanged));

  const entries = Object.entries(fields).map(([name, { schema, optional }]) => [
    name,
    optional || isUnchanged(name) ? v.nullish(schema) : schema,
  ]);
  const shape = v.strictObject({ [by]: v.string(), ...Object.fromEntries(entries) });
  const checked = validate(shape, merged, 'auth_config', 'auth_config') as Record<string, string | null | undefined>;

  const settings: Record<string, string> = {};
  const secrets: Record<string, string> = {};
  for (const name of Object.keys(known.secretHints)) if (!Object.hasOwn(fields, name)) secrets[name] = '';
  for (const [name, value] of Object.entries(checked)) {
    if (typeof value === 'string') (fields[name]?.secret ? secrets : settings)[name] = value;
  }
  return { settings, secrets };
}

function refuseMove(known: KnownAuth, merged: Readonly<Record<string, unknown>>, unchanged: readonly string[]): void {
  if (unchanged.length === 0) return;
  for (const name of addressSettings) {
    if (!(name in merged) || originOf(merged[name]) === originOf(known.auth[name])) continue;
    const paths = unchanged.map((secret) => `auth_config.${secret}`);
    throw invalid(`auth_config.${name}: a new host requires the credential again. Send it in ${paths.join(', ')}`);
  }
}

interface Field {
  readonly schema: v.GenericSchema<unknown, string>;
  readonly secret?: true;
  readonly optional?: true;
}

const visible = v.regex(/^[\x20-\x7e]*$/, 'visible ASCII characters are expected');
const short = v.pipe(v.string(), v.minLength(1, 'must not be empty'), v.maxLength(1_024, 'at most 1,024 characters'), visible);
const text: Field = { schema: short };
const optionalText: Field = { schema: short, optional: true };
const secret: Field = {
  schema: v.pipe(v.string(), v.minLength(1, 'must not be empty'), v.maxLength(16_384, 'at most 16,384 characters'), visible),
  secret: true,
};
/** `checkHost` performs further checks, because it has the hosts that this installation trusts. */
const address: Field = { schema: v.pipe(v.string(), v.maxLength(2_048, 'at most 2,048 characters')) };
/** The value becomes part of a host. */
const regionName = v.pipe(v.string(), v.regex(/^[a-z0-9-]{1,64}$/, 'the name of a region such as eu-central-1 is expected'));
const region: Field = { schema: regionName };

const mountExpected = 'the path of an authentication method such as kubernetes/cluster-1 is expected';
/** Empty parts and dot segments would name another path. */
const mountPath: Field = {
  schema: v.pipe(
    v.string(),
    v.maxLength(255, 'at most 255 characters'),
    v.regex(/^(?!\.)[\w.-]+(?:\/(?!\.)[\w.-]+)*$/, mountExpected),
  ),
  optional: true,
};

interface Manager {
  /** The setting that selects the authentication mode. */
  readonly by: string;
  readonly ways: Readonly<Record<string, Readonly<Record<string, Field>>>>;
}

const managers: Readonly<Record<SecretManagerType, Manager>> = {
  aws_sm: {
    by: 'aws_auth_type',
    ways: {
      accessKey: { aws_access_key_id: secret, aws_secret_access_key: secret, aws_region: region },
      assumedRole: { aws_role_arn: text, aws_external_id: optionalText, aws_region: region },
      serviceRole: { aws_region: { ...region, optional: true } },
    },
  },
  azure_kv: {
    by: 'azure_auth_mode',
    ways: {
      entra: {
        azure_entra_tenant_id: text,
        azure_entra_client_id: text,
        azure_entra_client_secret: secret,
        azure_vault_url: address,
      },
      managed: { azure_managed_client_id: optionalText, azure_vault_url: address },
      default: { azure_vault_url: address },
    },
  },
  hashicorp_vault: {
    by: 'vault_auth_type',
    ways: {
      token: { vault_addr: address, vault_token: secret, vault_namespace: optionalText },
      approle: {
        vault_addr: address,
        vault_role_id: text,
        vault_secret_id: secret,
        vault_namespace: optionalText,
        vault_mount: mountPath,
      },
      kubernetes: { vault_addr: address, vault_role: text, vault_namespace: optionalText, vault_mount: mountPath },
    },
  },
};

/** Settings that are the address of a manager. */
export const addressSettings: ReadonlySet<string> = new Set(
  Object.values(managers)
    .flatMap(({ ways }) => Object.values(ways))
    .flatMap((fields) => Object.keys(fields).filter((name) => fields[name] === address)),
);

/** Describes the fields of `auth_config` by manager and authentication mode, in Markdown for the API description. */
export const authConfigText = Object.entries(managers)
  .map(([type, { by, ways }]) => `With \`manager_type\` \`${type}\`, \`${by}\` is one of ${waysText(ways)}.`)
  .join(' ');

function waysText(ways: Manager['ways']): string {
  return Object.entries(ways)
    .map(([way, fields]) => {
      const names = Object.entries(fields).map(([name, { optional }]) => `\`${name}\`${optional ? ' (optional)' : ''}`);
      return `\`${way}\` (with ${names.join(', ')})`;
    })
    .join(', ');
}
