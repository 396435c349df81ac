import { describe, expect, it } from 'vitest';
import { implicitAdminScopes, organisationRoleScopes, securityRules, workspaceRoleScopes } from '../../../admin/access/roles.ts';
import { dataPlaneScopes, scopesByType } from '../../../admin/access/scopes.ts';
import { type WorkspaceRole, workspaceRoles } from '../../../admin/http/caller/actor.ts';
import { securityDefaults } from '../../../admin/resources/organisations/setting-sections.ts';

const all = Object.keys(securityDefaults) as (keyof typeof securityDefaults)[];
const everything = (value: boolean) => Object.fromEntries(all.map((name) => [name, value])) as typeof securityDefaults;

describe('roles', () => {
  it('give in a workspace only scopes that a key of a workspace, or its members, can use', () => {
    const possible = new Set([...scopesByType['workspace-service']]);
    for (const role of workspaceRoles) {
      const scopes = [...workspaceRoleScopes(role, everything(true))];
      expect(scopes.filter((scope) => !possible.has(scope) && !scope.startsWith('workspace_users.'))).toEqual([]);
      expect(
        scopes.filter((scope) => /^(organisation_(users|settings|service)|audit_logs|secret_references)/.test(scope)),
      ).toEqual([]);
    }
  });

  it('let viewers read only, with any settings', () => {
    for (const settings of [securityDefaults, everything(true)]) {
      const scopes = [...workspaceRoleScopes('viewer', settings)];
      expect(scopes).toContain('configs.read');
      expect(scopes.filter((scope) => !/\.(read|list|view|export)$/.test(scope))).toEqual([]);
    }
  });

  it('let members call models and change nothing by default', () => {
    const scopes = workspaceRoleScopes('member', securityDefaults);
    for (const scope of dataPlaneScopes) expect(scopes).toContain(scope);
    const others = [...scopes].filter((scope) => !dataPlaneScopes.includes(scope));
    expect(others.filter((scope) => /\.(create|update|delete|publish|rotate|copy|duplicate)$/.test(scope))).toEqual([]);
  });

  it('give owners all rights of organisation keys, and plain members none outside workspaces', () => {
    expect(organisationRoleScopes('owner', everything(false))).toEqual(scopesByType['organisation-service']);
    expect(organisationRoleScopes('admin', securityDefaults)).toEqual(scopesByType['organisation-service']);
    expect(organisationRoleScopes('member', everything(true)).size).toBe(0);
  });

  const rolesOf: Record<'member' | 'manager', WorkspaceRole[]> = { member: ['member'], manager: ['manager', 'admin'] };
  it.each(securityRules.filter((rule) => rule.role !== 'admin'))('$setting gives and takes its scopes, and no others', (rule) => {
    for (const role of rolesOf[rule.role as 'member' | 'manager']) {
      const on = workspaceRoleScopes(role, { ...securityDefaults, [rule.setting]: true });
      const off = workspaceRoleScopes(role, { ...securityDefaults, [rule.setting]: false });
      expect([...on].filter((scope) => !off.has(scope)).sort()).toEqual([...rule.scopes].sort());
      expect([...off].filter((scope) => !on.has(scope))).toEqual([]);
    }
    const others = rule.role === 'member' ? (['manager', 'admin'] as const) : (['member', 'viewer'] as const);
    for (const role of others) {
      expect(workspaceRoleScopes(role, { ...securityDefaults, [rule.setting]: false })).toEqual(
        workspaceRoleScopes(role, { ...securityDefaults, [rule.setting]: true }),
      );
    }
  });

  it('apply log settings to admins of the organisation, not to owners', () => {
    const settings = { ...securityDefaults, organisationAdminsViewLogs: false };
    expect(organisationRoleScopes('admin', settings)).not.toContain('logs.view');
    expect(implicitAdminScopes('admin', settings)).not.toContain('logs.view');
    expect(organisationRoleScopes('owner', settings)).toContain('logs.view');
    expect(implicitAdminScopes('owner', settings)).toContain('logs.view');
  });
});
