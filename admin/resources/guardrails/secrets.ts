import { keyPurposes } from '../../../core/contract/protocol/credentials/key-purposes.ts';
import { deriveKey, seal } from '../../../core/contract/values/credentials/secret.ts';
import { parseObject } from '../../../core/contract/values/json/json.ts';
import { pointerStep } from '../../../core/contract/values/json/json-pointer.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { invalid } from '../../http/errors.ts';
import { isMasked, lastCharacters, masked } from '../../secrets/sealed-fields.ts';
import type { Vault } from '../../secrets/vault.ts';
import { credentialsOf, partnerOf } from '../plugins/credentials-of.ts';
import type { GuardrailVersion, StoredCheck } from './entity.ts';

/** Secret parameters of the checks of one version: values by index of the check and JSON pointer below its parameters. */
export type CheckSecrets = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The same, with the credentials of partners as one value. */
type AllSecrets = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Parameters whose texts are secrets, whatever the check. */
const secretParameters: readonly string[] = ['headers', 'credentials'];

/**
 * Returns the checks with masks in place of their secret parameters, and the secrets. A mask that was sent keeps the value of the previous
 * version, if that check sends it to the same host. Throws AB01 otherwise: the value must not reach a host that its owner did not choose.
 */
export function splitSecrets(
  sent: readonly StoredCheck[],
  before: { readonly checks: readonly StoredCheck[]; readonly secrets: CheckSecrets } = { checks: [], secrets: {} },
): { readonly checks: StoredCheck[]; readonly secrets: CheckSecrets } {
  const secrets: Record<string, Record<string, string>> = {};
  const checks = sent.map((check, index) => {
    const shown = { ...check, parameters: structuredClone(check.parameters) };
    const own: Record<string, string> = {};
    for (const name of secretParameters) {
      shown.parameters[name] = asObject(shown.parameters[name]);
      if (shown.parameters[name] === undefined) delete shown.parameters[name];
      const leaves = [...leavesOf(shown.parameters[name], `/${name}`)];
      // Credentials are one unit: among them may be the address that the others are sent to.
      const areMixed =
        name === 'credentials' && leaves.some(({ value }) => isMasked(value)) && !leaves.every(({ value }) => isMasked(value));
      for (const { pointer, value, replace } of leaves) {
        const stored = isMasked(value) && !areMixed ? storedValue(check, index, pointer, value, before) : value;
        if (stored === null || (areMixed && isMasked(value))) {
          const path = `checks[${index}].parameters${pointer.replaceAll('/', '.')}`;
          throw invalid(`${path}: a masked value is accepted only for the host that it was saved for. Send the value itself`);
        }
        own[pointer] = stored;
        replace(masked(lastCharacters(stored)));
      }
    }
    if (Object.keys(own).length > 0) secrets[index] = own;
    return shown;
  });
  return { checks, secrets };
}

/** Headers may be sent as JSON text. */
function asObject(value: unknown): unknown {
  return typeof value === 'string' ? (parseObject(value) ?? value) : value;
}

interface Leaf {
  readonly pointer: string;
  readonly value: string;
  replace(value: string): void;
}

function* leavesOf(holder: unknown, path: string): Generator<Leaf> {
  if (typeof holder !== 'object' || holder === null) return;
  const members = holder as Record<string, unknown>;
  for (const [key, value] of Object.entries(members)) {
    const pointer = `${path}/${pointerStep(key)}`;
    const replace = (shown: string) => {
      members[key] = shown;
    };
    if (typeof value === 'string') yield { pointer, value, replace };
    else yield* leavesOf(value, pointer);
  }
}

function storedValue(
  check: StoredCheck,
  index: number,
  pointer: string,
  mask: string,
  { checks, secrets }: { readonly checks: readonly StoredCheck[]; readonly secrets: CheckSecrets },
): string | null {
  const order = [index, ...checks.keys()];
  for (const at of order) {
    const previous = checks[at];
    const value = secrets[at]?.[pointer];
    if (previous === undefined || value === undefined || masked(lastCharacters(value)) !== mask) continue;
    if (previous.id === check.id && hostsOf(previous) === hostsOf(check)) return value;
  }
  return null;
}

/** The origins of the addresses among the parameters of a check. */
function hostsOf({ parameters }: StoredCheck): string {
  const urls = Object.entries(parameters)
    .filter(([name, value]) => typeof value === 'string' && !secretParameters.includes(name))
    .map(([name, value]) => [name, URL.parse(value as string)?.origin])
    .filter(([, origin]) => origin !== undefined && origin !== 'null');
  return JSON.stringify(urls.sort());
}

/** Seals the secrets of a version for the database; null if there are none. */
export async function sealSecrets(
  em: EntityManager,
  vault: Vault,
  { id, organisationId }: Pick<GuardrailVersion, 'id' | 'organisationId'>,
  secrets: CheckSecrets,
): Promise<string | null> {
  if (Object.keys(secrets).length === 0) return null;
  return vault.seal(em, contextOf(id, organisationId), JSON.stringify(secrets));
}

/** Opens the secrets of a version. */
export async function openSecrets(
  em: EntityManager,
  vault: Vault,
  { id, organisationId, secrets }: Pick<GuardrailVersion, 'id' | 'organisationId' | 'secrets'>,
): Promise<CheckSecrets> {
  if (secrets === null || secrets === undefined) return {};
  return JSON.parse(await vault.open(em, contextOf(id, organisationId), secrets)) as CheckSecrets;
}

/** Seals the secrets of a version for gateways; null if there are none. */
export function sealForGateways(clusterKey: Uint8Array, versionId: string, secrets: AllSecrets): string | null {
  if (Object.keys(secrets).length === 0) return null;
  return seal(deriveKey(clusterKey, keyPurposes.transport), JSON.stringify(secrets), `guardrail/${versionId}`);
}

/** Adds the credentials of the organisation to the secrets of checks of partners that have none of their own. */
export async function withPartners(
  em: EntityManager,
  vault: Vault,
  organisationId: string,
  checks: readonly { readonly id: string; readonly parameters?: Readonly<Record<string, unknown>> | undefined }[],
  secrets: CheckSecrets = {},
): Promise<AllSecrets> {
  const partners = checks.map(({ id, parameters }) => (parameters?.credentials === undefined ? partnerOf(id) : null));
  const known = await credentialsOf(
    em,
    vault,
    organisationId,
    partners.filter((partner) => partner !== null),
  );
  const all: Record<string, Readonly<Record<string, unknown>>> = { ...secrets };
  for (const [index, partner] of partners.entries()) {
    const credentials = partner === null ? undefined : known.get(partner);
    if (credentials) all[index] = { ...all[index], '/credentials': credentials };
  }
  return all;
}

function contextOf(rowId: string, organisationId: string) {
  return { organisationId, table: 'guardrail_versions', column: 'secrets', rowId };
}
