import { isDeepStrictEqual } from 'node:util';
import type * as v from 'valibot';
import type { Settings } from '../../../config/settings.ts';
import { guardrailSides } from '../../../core/contract/plugin/guardrails/guardrail-config.ts';
import { requireUnchangedVisibility } from '../../access/admin-visibility.ts';
import { requireRank } from '../../access/require-rank.ts';
import { securitySettingsChanged } from '../../access/role-changed.ts';
import { grantableInWorkspaces, scopesByType } from '../../access/scopes.ts';
import { announceTokens } from '../../announce/users.ts';
import type { Actor } from '../../http/caller/actor.ts';
import { forbidden } from '../../http/errors.ts';
import { checkJwtSettings } from '../../identity/jwt/check-settings.ts';
import { endPasswordSessions } from '../../identity/sessions.ts';
import type { Change } from '../../publish/write-change.ts';
import { workspaces } from '../workspaces/entity.ts';
import { checkGuardrails } from './check-guardrails.ts';
import { copyDown } from './copy-down.ts';
import { defaultsKeys, type Organisation } from './entity.ts';
import type { authSettingsBody, defaultsBody, updateBody } from './schema.ts';
import { securitySettingsOf } from './security-settings.ts';

/**
 * Updates the sent fields; null clears. Sections that workspaces may now override are copied down to them first, so that their
 * effective settings do not change. Throws AB03 for an admin who would see more than owners allow.
 */
export async function updateOrganisation(
  change: Change,
  actor: Actor,
  row: Organisation,
  body: v.InferOutput<typeof updateBody>,
): Promise<void> {
  const isAboutAccess = body.security_settings !== undefined || body.override_settings !== undefined;
  const active = isAboutAccess ? await change.tx.find(workspaces, { organisationId: row.id, status: 'active' }) : [];
  const everywhere = () => [null, ...active].map((workspace) => securitySettingsOf({ organisation: row, workspace }));
  const sightBefore = everywhere();
  const before = [row.settings, row.dataPlaneSecuritySettings, row.overrides];
  const securityBefore = [row.securitySettings, row.overrides];
  if (body.name !== undefined) row.name = body.name;
  row.settings = merged(row.settings, body.settings);
  row.securitySettings = merged(row.securitySettings, body.security_settings);
  row.dataPlaneSecuritySettings = merged(row.dataPlaneSecuritySettings, body.data_plane_security_settings);
  row.exportSettings = merged(row.exportSettings, body.export_settings);
  if (body.override_settings) {
    const now = new Set(row.overrides ?? []);
    const opened: string[] = [];
    for (const [section, allowed] of Object.entries(body.override_settings)) {
      if (allowed && !now.has(section)) opened.push(section);
      if (allowed) now.add(section);
      else now.delete(section);
    }
    for (const workspace of active) copyDown(row, workspace, opened);
    row.overrides = [...now].sort();
  }
  requireUnchangedVisibility(actor, sightBefore, everywhere());
  touch(change, row);
  if (!isDeepStrictEqual(before, [row.settings, row.dataPlaneSecuritySettings, row.overrides])) {
    await announceWorkspaces(change, row.id);
  }
  // The rights of users, of their keys and of the keys they granted depend on these settings.
  if (!isDeepStrictEqual(securityBefore, [row.securitySettings, row.overrides])) {
    await securitySettingsChanged(change, row.id, null);
  }
}

/**
 * Changes the settings for sign-in, session life and JWT keys. `require_sso` ends sessions that began with a password. Throws AB01 for
 * invalid keys and URLs. Throws AB03 for JWT keys of an actor who lacks rights that tokens can have: they act in every workspace, as any user.
 */
export async function updateAuthSettings(
  change: Change,
  actor: Actor,
  row: Organisation,
  body: v.InferOutput<typeof authSettingsBody>,
  settings: Pick<Settings, 'trustedCustomHosts'>,
): Promise<void> {
  if (body.jwt) requireTokenRights(actor);
  const takesTokens = Boolean(row.authSettings?.jwt);
  const requiredSso = row.authSettings?.require_sso === true;
  const sent = body.jwt ? { ...body, jwt: checkJwtSettings(body.jwt, settings) } : body;
  const scim = body.scim && { ...row.authSettings?.scim, ...body.scim };
  row.authSettings = merged(row.authSettings, { ...sent, scim });
  touch(change, row);
  if (body.require_sso === true && !requiredSso) await endPasswordSessions(change.tx, row.id);
  if (body.jwt !== undefined) await announceTokens(change, row.id, takesTokens);
}

/** Tokens may name any user and have every scope of keys of users. Throws AB03 for an actor who could not grant both. */
function requireTokenRights(actor: Actor): void {
  requireRank(actor, 'admin');
  const grantable = grantableInWorkspaces(actor.scopes);
  const missing = [...scopesByType['workspace-user']].filter((scope) => !grantable.has(scope));
  if (missing.length === 0) return;
  throw forbidden(`jwt: tokens can have every scope of a workspace. These are missing: ${missing.slice(0, 10).join(', ')}`);
}

/** Replaces the named lists. The others stay. */
export async function updateDefaults(change: Change, row: Organisation, body: v.InferOutput<typeof defaultsBody>): Promise<void> {
  const tenant = { organisationId: row.id, workspaceId: null };
  const defaults = row.defaults ?? { input_guardrails: [], output_guardrails: [] };
  const next = { ...defaults };
  for (const side of guardrailSides) {
    const key = defaultsKeys[side];
    const named = body[key];
    if (named !== undefined) next[key] = await checkGuardrails(change.tx, tenant, named, side, key);
  }
  row.defaults = next;
  touch(change, row);
  await announceWorkspaces(change, row.id);
}

/** One event per active workspace: their documents include the organisation's settings. */
async function announceWorkspaces(change: Change, organisationId: string): Promise<void> {
  const rows = await change.tx.find(
    workspaces,
    { organisationId, status: 'active' },
    { orderBy: { createdAt: 'asc', id: 'asc' } },
  );
  for (const { id } of rows) change.emit({ kind: 'workspace', id, op: 'upsert' });
}

function touch(change: Change, row: Organisation): void {
  row.lastUpdatedAt = new Date();
  change.about(row);
}

/** A new object, because the ORM detects a change of a JSON column by its identity. */
function merged<Value extends object>(before: Value | null | undefined, sent: object | undefined): Value | null {
  if (sent === undefined) return before ?? null;
  const named = Object.entries(sent).filter(([, value]) => value !== undefined);
  return { ...(before ?? {}), ...Object.fromEntries(named) } as Value;
}
