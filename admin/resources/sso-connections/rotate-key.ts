import * as v from 'valibot';
import { oneOf } from '../../../core/contract/values/text/one-of.ts';
import { requireRank } from '../../access/require-rank.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { AdminServices } from '../../http/admin-services.ts';
import type { Actor } from '../../http/caller/actor.ts';
import { conflict, invalid } from '../../http/errors.ts';
import { id } from '../../http/request/schemas.ts';
import type { Change } from '../../publish/write-change.ts';
import { newClientKey } from './client-key.ts';
import { oidcSettingsOf, type SsoConnection } from './entity.ts';
import { newSamlKey } from './saml-key.ts';
import { samlSettingsOf } from './saml-settings.ts';
import { connectionSecrets } from './secrets.ts';

/** Steps of a rotation. Both keys are published after `add` and after `activate`. */
const steps = ['add', 'activate', 'remove'] as const;

export const rotateKeyBody = v.strictObject({
  organisation_id: v.optional(id),
  step: oneOf(steps),
});

/** A key of the service with its certificate, which only SAML has. */
interface NewKey {
  readonly key: string;
  readonly certificate: string | null;
}

/** Creates the key of the step `add`, before the transaction because an RSA key takes a while. Null for other steps. Throws AB01. */
export async function prepareKey(
  { type, settings }: SsoConnection,
  step: (typeof steps)[number],
  now: number,
): Promise<NewKey | null> {
  if (type === 'oidc' && oidcSettingsOf({ settings }).token_endpoint_auth_method !== 'private_key_jwt') {
    throw invalid('oidc.token_endpoint_auth_method: only connections with private_key_jwt have a key');
  }
  if (step !== 'add') return null;
  return type === 'saml' ? newSamlKey(now) : { key: JSON.stringify(await newClientKey()), certificate: null };
}

/**
 * Runs a step of a rotation of the service's own key. `add` publishes a next key, `activate` signs with it and keeps the previous one
 * published, `remove` deletes the key that does not sign. Every published key decrypts. Throws AB03 unless the actor is an owner, AB07 for a
 * step that does not fit.
 */
export async function rotateKey(
  change: Change,
  { vault }: Pick<AdminServices, 'vault'>,
  actor: Actor,
  row: SsoConnection,
  { step, added }: { readonly step: (typeof steps)[number]; readonly added: NewKey | null },
): Promise<void> {
  requireRank(actor, 'owner');
  const keys = await readKeys(change.tx, vault, row);
  await writeKeys(change.tx, vault, row, after(keys, step, added));
  row.lastUpdatedAt = new Date();
  change.about(row);
}

/** The keys of a connection. At most one of `next` and `previous` is set. */
interface Keys {
  readonly current: NewKey;
  readonly next: NewKey | null;
  readonly previous: NewKey | null;
}

function after({ current, next, previous }: Keys, step: (typeof steps)[number], added: NewKey | null): Keys {
  if (step === 'add') {
    if (next || previous) throw conflict('step: this connection already has two keys. Send activate or remove first');
    return { current, next: added, previous: null };
  }
  if (step === 'activate') {
    if (!next) throw conflict('step: this connection has no next key. Send add first');
    return { current: next, next: null, previous: current };
  }
  if (!next && !previous) throw conflict('step: this connection has one key only, which cannot be removed');
  return { current, next: null, previous: null };
}

async function readKeys(tx: EntityManager, vault: AdminServices['vault'], row: SsoConnection): Promise<Keys> {
  const name = nameOf(row);
  const secrets = await connectionSecrets.open(tx, vault, row);
  const saml = samlSettingsOf(row);
  const keyOf = (key: string | undefined, certificate: string | null | undefined) =>
    key === undefined ? null : { key, certificate: certificate ?? null };
  return {
    current: keyOf(secrets[name] ?? '', saml.own_certificate) as NewKey,
    next: keyOf(secrets[`next_${name}`], saml.next_certificate),
    previous: keyOf(secrets[`previous_${name}`], saml.previous_certificate),
  };
}

async function writeKeys(
  tx: EntityManager,
  vault: AdminServices['vault'],
  row: SsoConnection,
  { current, next, previous }: Keys,
): Promise<void> {
  const name = nameOf(row);
  const changes = { [name]: current.key, [`next_${name}`]: next?.key ?? '', [`previous_${name}`]: previous?.key ?? '' };
  await connectionSecrets.put(tx, vault, row, changes);
  if (row.type === 'oidc') return;
  row.settings = {
    ...row.settings,
    own_certificate: current.certificate,
    next_certificate: next?.certificate ?? null,
    previous_certificate: previous?.certificate ?? null,
  };
}

function nameOf({ type }: SsoConnection): 'saml_key' | 'private_key' {
  return type === 'saml' ? 'saml_key' : 'private_key';
}
