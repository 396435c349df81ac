import type { MappedDocument, MappedValues, SecretManagers } from '../contract/protocol/credentials/secret-managers.ts';
import type { MappedSecretDocument, SecretManagerType } from '../contract/protocol/credentials/secret-reference.ts';
import type { Credentials } from '../contract/provider/provider.ts';
import type { SignServices } from '../contract/provider/sign-services.ts';
import type { TrustedHosts } from '../contract/values/addresses/trusted-hosts.ts';
import { Secret } from '../contract/values/credentials/secret.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import type { Log } from '../contract/values/log/log.ts';
import { isPromise, type Maybe } from '../contract/values/maybe.ts';
import type { Clock } from '../contract/values/time/clock.ts';
import { readAwsSecret } from './aws-secrets-manager.ts';
import { readAzureSecret } from './azure-key-vault.ts';
import { createVaultReader } from './hashicorp-vault.ts';
import { pickSetting, pickValue } from './pick-value.ts';
import { type Asked, pauseMs, SecretCache } from './secret-cache.ts';
import { errorOf, refused, SecretError } from './secret-error.ts';
import type { ReadServices, SecretContent, SecretReader } from './secret-reader.ts';

export interface SecretManagersOptions {
  /** Opens the credentials of a reference. */
  openAuth(mapped: MappedSecretDocument): Credentials;
  /** Uses the gateway's one connector; uses the machine's identity if the deployment allows it. */
  readonly sign: SignServices;
  readonly trusted: TrustedHosts;
  readonly clock: Clock;
  readonly log: Log;
  readonly ttlMs: number;
  /** Default: the path that Kubernetes uses. */
  readonly serviceAccountTokenFile?: string;
}

export interface RunningSecretManagers extends SecretManagers {
  /** For metrics. */
  readonly cache: Pick<SecretCache, 'counts' | 'oldestInUseMs'>;
}

const kubernetesTokenFile = '/var/run/secrets/kubernetes.io/serviceaccount/token';

/** The joined values of a document, and the contents they were made from. */
interface Joined {
  readonly contents: readonly SecretContent[];
  readonly values: MappedValues;
}

/** Reads the values that providers have in secret managers on demand, and caches them in memory. */
export function createSecretManagers(options: SecretManagersOptions): RunningSecretManagers {
  const { openAuth, sign, trusted, serviceAccountTokenFile = kubernetesTokenFile } = options;
  const services: ReadServices = { sign, trusted, serviceAccountTokenFile };
  const readers: Readonly<Record<SecretManagerType, SecretReader>> = {
    aws_sm: readAwsSecret,
    azure_kv: readAzureSecret,
    hashicorp_vault: createVaultReader(),
  };
  const cache = new SecretCache(options);
  const joined = new WeakMap<MappedDocument, Joined>();

  const askedFor = ({ organisationId }: MappedDocument, mapped: MappedSecretDocument): Asked => ({
    name: `${mapped.id} ${organisationId} ${mapped.revision} ${mapped.path}`,
    manager: mapped.managerType,
    slug: mapped.slug,
    read: async () => ofFairSize(await readers[mapped.managerType](mapped, openAuth(mapped), organisationId, services)),
  });

  function valuesOf(document: MappedDocument): Maybe<MappedValues> {
    const found = mappedOf(document).map((mapped) => cache.get(askedFor(document, mapped)));
    return found.some(isPromise)
      ? Promise.all(found).then((all) => join(document, all))
      : join(document, found as SecretResult[]);
  }

  function join(document: MappedDocument, results: readonly SecretResult[]): MappedValues {
    const known = joined.get(document);
    if (known?.contents.every((content, index) => content === results[index])) return known.values;
    const credentials: Record<string, Secret> = {};
    const settings: Record<string, unknown> = {};
    for (const [index, mapped] of mappedOf(document).entries()) {
      const result = results[index] as SecretResult;
      try {
        if (result instanceof SecretError) throw result;
        if (mapped.isSecret) credentials[mapped.field] = new Secret(pickValue(result, mapped));
        else settings[mapped.field] = pickSetting(result, mapped);
      } catch (thrown) {
        // A value that was missing may exist now.
        if (thrown !== result) void cache.renew(askedFor(document, mapped));
        throw unavailable(document, mapped, errorOf(thrown));
      }
    }
    const values = { credentials, settings };
    joined.set(document, { contents: results as readonly SecretContent[], values });
    return values;
  }

  return {
    cache,
    valuesOf,
    async renew(document, used) {
      const asked = new Map(
        mappedOf(document)
          .map((mapped) => askedFor(document, mapped))
          .map((one) => [one.name, one]),
      );
      if (joined.get(document)?.values === used) await Promise.all([...asked.values()].map((one) => cache.renew(one)));
      try {
        return (await valuesOf(document)) !== used;
      } catch {
        return false;
      }
    },
    check: (document) =>
      Promise.all(
        mappedOf(document).map(async (mapped) => {
          const result = await cache.ask(askedFor(document, mapped));
          try {
            if (result instanceof SecretError) throw result;
            (mapped.isSecret ? pickValue : pickSetting)(result, mapped);
            return null;
          } catch (thrown) {
            return errorOf(thrown).message;
          }
        }),
      ),
  };
}

/**
 * The size limit of AWS for one secret; Azure's is lower. It prevents a tenant's own manager from filling the memory shared by
 * all tenants.
 */
const secretCharactersMax = 65_536;

function ofFairSize(content: SecretContent): SecretContent {
  if (content.text.reveal().length <= secretCharactersMax) return content;
  throw refused(`the secret is longer than ${secretCharactersMax} characters`);
}

type SecretResult = SecretContent | SecretError;

function mappedOf(document: MappedDocument): readonly MappedSecretDocument[] {
  return document.mappedSecrets ?? [];
}

/** Names the reference for the administrator, and nothing of the manager's content. */
function unavailable({ slug }: MappedDocument, mapped: MappedSecretDocument, error: SecretError): GatewayError {
  const why = error.isAway
    ? 'whose secret manager cannot be reached. Try again shortly'
    : 'which has no usable value. Test the integration to see the reason';
  return new GatewayError('secret_unavailable', {
    message: `@${slug}: ${mapped.target} comes from the secret reference ${mapped.slug}, ${why}`,
    detail: error.message,
    cause: error,
    retryAfterMs: pauseMs,
  });
}
